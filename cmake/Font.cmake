# Embeds the fonts of the pictures into the program, and stb_truetype to draw them: DejaVu Sans and, if found, Droid Sans Fallback
# for Chinese, Japanese and Korean.
find_path(STB_INCLUDE_DIR stb/stb_truetype.h)
find_file(WORKBENCH_FONT_FILE DejaVuSans.ttf
  PATHS /usr/share/fonts/truetype/dejavu /usr/share/fonts/dejavu /usr/share/fonts/TTF /usr/share/fonts/dejavu-sans-fonts)
if(NOT STB_INCLUDE_DIR)
  message(FATAL_ERROR "stb/stb_truetype.h was not found: install libstb-dev, or set STB_INCLUDE_DIR.")
endif()
if(NOT WORKBENCH_FONT_FILE)
  message(FATAL_ERROR "DejaVuSans.ttf was not found: install fonts-dejavu-core, or set WORKBENCH_FONT_FILE.")
endif()
find_file(WORKBENCH_CJK_FONT_FILE DroidSansFallbackFull.ttf
  PATHS /usr/share/fonts/truetype/droid /usr/share/fonts/droid /usr/share/fonts/google-droid /usr/share/fonts/google-droid-sans-fonts)
if(NOT WORKBENCH_CJK_FONT_FILE)
  message(STATUS "DroidSansFallbackFull.ttf was not found (fonts-droid-fallback): pictures write CJK characters as numbers")
endif()
add_library(workbench_font INTERFACE)
target_include_directories(workbench_font SYSTEM INTERFACE ${STB_INCLUDE_DIR})
target_compile_definitions(workbench_font INTERFACE WORKBENCH_FONT_FILE="${WORKBENCH_FONT_FILE}")
if(WORKBENCH_CJK_FONT_FILE)
  target_compile_definitions(workbench_font INTERFACE WORKBENCH_CJK_FONT_FILE="${WORKBENCH_CJK_FONT_FILE}")
endif()
# viz/text.cpp embeds the font files, a dependency that the compiler does not report.
set(font_files ${WORKBENCH_FONT_FILE})
if(WORKBENCH_CJK_FONT_FILE)
  list(APPEND font_files ${WORKBENCH_CJK_FONT_FILE})
endif()
set_source_files_properties(${CMAKE_SOURCE_DIR}/viz/text.cpp PROPERTIES OBJECT_DEPENDS "${font_files}")
mark_as_advanced(STB_INCLUDE_DIR)
