# AMD of SuiteSparse has no CMake package in Debian 12. Defines AMD::AMD.
find_path(AMD_INCLUDE_DIR suitesparse/amd.h)
find_library(AMD_LIBRARY amd)
find_library(SUITESPARSE_CONFIG_LIBRARY suitesparseconfig)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(AMD
  REQUIRED_VARS AMD_LIBRARY SUITESPARSE_CONFIG_LIBRARY AMD_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libsuitesparse-dev, or set AMD_ROOT")
if(AMD_FOUND AND NOT TARGET AMD::AMD)
  add_library(AMD::AMD UNKNOWN IMPORTED)
  set_target_properties(AMD::AMD PROPERTIES
    IMPORTED_LOCATION ${AMD_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${AMD_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES ${SUITESPARSE_CONFIG_LIBRARY})
endif()
mark_as_advanced(AMD_INCLUDE_DIR AMD_LIBRARY SUITESPARSE_CONFIG_LIBRARY)
