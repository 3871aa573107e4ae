# The Python module spmv_workbench: pybind11 over the library, for the first Python with numpy and scipy (-DPython_EXECUTABLE=... for
# another one). It is built as python/spmv_workbench, beside the program.
if(NOT WORKBENCH_LIBRARY)
  message(FATAL_ERROR "WORKBENCH_PYTHON needs WORKBENCH_LIBRARY")
endif()
foreach(candidate python3 /usr/bin/python3)
  if(NOT Python_EXECUTABLE)
    execute_process(COMMAND ${candidate} -c "import numpy, scipy, sys; print(sys.executable)" OUTPUT_VARIABLE found
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(found)
      set(Python_EXECUTABLE ${found} CACHE FILEPATH "The Python that the module is built for")
    endif()
  endif()
endforeach()
if(NOT Python_EXECUTABLE)
  message(FATAL_ERROR "WORKBENCH_PYTHON: no Python with numpy and scipy was found (Debian: python3-scipy)")
endif()
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(pybind11 2.10 REQUIRED CONFIG)  # Debian: pybind11-dev

set(module_folder ${CMAKE_BINARY_DIR}/python/spmv_workbench)
Python_add_library(workbench_python MODULE WITH_SOABI frontends/python/bindings.cpp)
target_link_libraries(workbench_python PRIVATE workbench_options pybind11::headers workbench_xxhash spmv_workbench)
set_target_properties(workbench_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${module_folder}
  CXX_VISIBILITY_PRESET hidden INSTALL_RPATH "$ORIGIN/../../..")
target_link_options(workbench_python PRIVATE -Wl,--disable-new-dtags)
add_dependencies(workbench_python workbench)
file(MAKE_DIRECTORY ${module_folder})
file(GLOB module_files CONFIGURE_DEPENDS frontends/python/spmv_workbench/*)
foreach(file IN LISTS module_files)
  cmake_path(GET file FILENAME name)
  if(NOT IS_DIRECTORY ${file})
    file(CREATE_LINK ${file} ${module_folder}/${name} SYMBOLIC)
  endif()
endforeach()
# Where Debian's Python looks if the prefix is /usr; elsewhere this folder belongs on PYTHONPATH.
set(module_prefix lib/python3/dist-packages/spmv_workbench)
if(SKBUILD)  # pip install: where any Python looks, below its sys.prefix
  set(module_prefix lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages/spmv_workbench)
endif()
install(TARGETS workbench_python LIBRARY DESTINATION ${module_prefix} COMPONENT python)
install(DIRECTORY frontends/python/spmv_workbench/ DESTINATION ${module_prefix} COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
