# The font of the pictures: DejaVu Sans, put into the program, and stb_truetype to draw it.
find_path(STB_INCLUDE_DIR stb/stb_truetype.h)
find_file(WORKBENCH_FONT_FILE DejaVuSans.ttf
  PATHS /usr/share/fonts/truetype/dejavu /usr/share/fonts/dejavu /usr/share/fonts/TTF /usr/share/fonts/dejavu-sans-fonts)
if(NOT STB_INCLUDE_DIR)
  message(FATAL_ERROR "stb/stb_truetype.h was not found: install libstb-dev, or set STB_INCLUDE_DIR.")
endif()
if(NOT WORKBENCH_FONT_FILE)
  message(FATAL_ERROR "DejaVuSans.ttf was not found: install fonts-dejavu-core, or set WORKBENCH_FONT_FILE.")
endif()
add_library(workbench_font INTERFACE)
target_include_directories(workbench_font SYSTEM INTERFACE ${STB_INCLUDE_DIR})
target_compile_definitions(workbench_font INTERFACE WORKBENCH_FONT_FILE="${WORKBENCH_FONT_FILE}")
# The compiler does not see that viz/text.cpp reads the font file.
set_source_files_properties(${CMAKE_SOURCE_DIR}/viz/text.cpp PROPERTIES OBJECT_DEPENDS ${WORKBENCH_FONT_FILE})
mark_as_advanced(STB_INCLUDE_DIR)
