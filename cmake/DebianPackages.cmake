# `cpack -G DEB` of a build with -DWORKBENCH_BUNDLE_LIBRARIES=OFF: one package a part of cmake/Package.cmake. The libraries that a part is linked
# with are dependencies of its package; what is opened on demand is in the package of modules, which is recommended.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_CONTACT "The SpMV workbench developers <spmv-workbench@localhost>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
# workbench_debian_package(PART NAME SECTION SUMMARY [DEPENDS text] [RECOMMENDS text]): other parts that are needed are of the same version.
function(workbench_debian_package part name section summary)
  cmake_parse_arguments(package "" "DEPENDS;RECOMMENDS" "" ${ARGN})
  string(TOUPPER ${part} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${PROJECT_DESCRIPTION}\n ${summary}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${PROJECT_DESCRIPTION}\n ${summary}" PARENT_SCOPE)
  foreach(kind DEPENDS RECOMMENDS)
    string(REPLACE "(=)" "(= ${PROJECT_VERSION})" text "${package_${kind}}")
    set(CPACK_DEBIAN_${key}_PACKAGE_${kind} "${text}" PARENT_SCOPE)
  endforeach()
endfunction()
set(debian_library "libspmv-workbench${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
workbench_debian_package(library ${debian_library} libs "The library for other programs, and the recipes."
  RECOMMENDS "g++")  # to compile kernels beside recipes
workbench_debian_package(development libspmv-workbench-dev libdevel "The header, the CMake package and the pkg-config file of the library."
  DEPENDS "${debian_library} (=)")
workbench_debian_package(program spmv-workbench science "The program workbench."
  DEPENDS "${debian_library} (=)" RECOMMENDS "spmv-workbench-modules (=), spmv-workbench-doc (=), libcurl4")  # libcurl: workbench fetch
workbench_debian_package(modules spmv-workbench-modules science "The server of live pages, runs over MPI, and files of MATLAB and HDF5.")
workbench_debian_package(documentation spmv-workbench-doc doc "Its documentation.")
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
workbench_debian_package(checks spmv-workbench-checks science "Tests of a GPU, and of runs over MPI." DEPENDS "${debian_library} (=)")
workbench_debian_package(python python3-spmv-workbench python "The Python module spmv_workbench."
  DEPENDS "${debian_library} (=), python3-scipy" RECOMMENDS "spmv-workbench (=)")  # the program: choose, run, stages
