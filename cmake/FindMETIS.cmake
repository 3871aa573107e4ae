# METIS has no CMake package of its own. Defines METIS::METIS.
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
if(METIS_INCLUDE_DIR)
  foreach(level MAJOR MINOR SUBMINOR)
    file(STRINGS ${METIS_INCLUDE_DIR}/metis.h line REGEX "#define METIS_VER_${level}")
    string(REGEX MATCH "[0-9]+" number "${line}")
    list(APPEND METIS_VERSION ${number})
  endforeach()
  list(JOIN METIS_VERSION . METIS_VERSION)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(METIS
  REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR
  VERSION_VAR METIS_VERSION
  REASON_FAILURE_MESSAGE "install libmetis-dev, or set METIS_ROOT")
if(METIS_FOUND AND NOT TARGET METIS::METIS)
  add_library(METIS::METIS UNKNOWN IMPORTED)
  set_target_properties(METIS::METIS PROPERTIES
    IMPORTED_LOCATION ${METIS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE_DIR})
endif()
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
