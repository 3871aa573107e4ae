# The commit, determined at every build, and the versions of the libraries, as the program reports them.
add_custom_target(workbench_commit
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${CMAKE_BINARY_DIR}/generated/workbench_commit.hpp
          -P ${CMAKE_SOURCE_DIR}/cmake/WriteCommit.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/workbench_commit.hpp
  COMMENT "")

set(WORKBENCH_LIBRARY_VERSIONS
  "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} Kokkos ${Kokkos_VERSION} METIS ${METIS_VERSION} Boost ${Boost_VERSION_STRING} Eigen ${Eigen3_VERSION} libarchive ${LibArchive_VERSION}")
if(WORKBENCH_HAS_CUDA)
  string(APPEND WORKBENCH_LIBRARY_VERSIONS " CUDA ${CUDAToolkit_VERSION}")
endif()
