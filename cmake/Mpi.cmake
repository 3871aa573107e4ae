# The module with MPI, which --distributed loads from lib, beside the program.
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  message(STATUS "MPI: left out, --distributed will say so (Debian: libopenmpi-dev, openmpi-bin)")
  return()
endif()
message(STATUS "MPI ${MPI_CXX_VERSION}: ${MPIEXEC_EXECUTABLE}")
add_library(workbench_mpi MODULE studies/distributed/mpi/module.cpp)
target_compile_definitions(workbench_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_link_libraries(workbench_mpi PRIVATE workbench_options MPI::MPI_CXX)
# --as-needed drops MPI's old C++ interface.
target_link_options(workbench_mpi PRIVATE -Wl,--no-undefined -Wl,--as-needed)
set_target_properties(workbench_mpi PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_dependencies(workbench_distributed workbench_mpi)
