# The GPU half of workbench_kernels: the .cu files of every layout and the CUDA device. Without CUDA a stand-in says that there is no GPU.
if(NOT WORKBENCH_HAS_CUDA)
  target_sources(workbench_kernels PRIVATE kernels/common/device/no_cuda/cuda_device.cpp)
  return()
endif()

file(GLOB cuda_sources CONFIGURE_DEPENDS kernels/*/*.cu kernels/common/device/*.cu kernels/common/krylov/*.cu kernels/*/cusparse.cpp
  kernels/common/vendor/cusparse.cpp kernels/common/vendor/cusparse_slices.cpp)
target_sources(workbench_kernels PRIVATE ${cuda_sources})
target_link_libraries(workbench_kernels PRIVATE CUDA::cudart_static)
# Schedules are constexpr functions that the host calls, too (kernels/common/schedule/run.hpp): hence --expt-relaxed-constexpr.
# No -Wpedantic for .cu: it objects to the line markers that nvcc itself writes.
target_compile_options(workbench_kernels PRIVATE
  "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcompiler=-Wall,-Wextra,-Werror;--Werror=all-warnings;-Xfatbin=-compress-all>")

# cuSPARSE is large and often absent where the program runs: a module that is opened when it is asked for. It is found beside the
# program, in lib.
add_library(workbench_cusparse MODULE kernels/common/vendor/module.cpp)
target_link_libraries(workbench_cusparse PRIVATE workbench_options CUDA::cusparse)
target_link_options(workbench_cusparse PRIVATE -Wl,--no-undefined)
set_target_properties(workbench_cusparse PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_dependencies(workbench_kernels workbench_cusparse)
