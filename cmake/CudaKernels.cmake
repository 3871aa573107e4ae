# The GPU part of workbench_kernels: the .cu files of every layout and the CUDA device. Without CUDA, stand-ins report that there is
# no GPU.
if(NOT WORKBENCH_HAS_CUDA)
  file(GLOB stand_ins CONFIGURE_DEPENDS kernels/no_cuda/*.cpp)
  target_sources(workbench_kernels PRIVATE ${stand_ins})
  return()
endif()

# A format in one file has no cuda.cu: using its entry compiles its CUDA kernels.
foreach(name IN LISTS formats_in_one_file)
  set(generated ${CMAKE_BINARY_DIR}/generated/${name}.cu)
  file(CONFIGURE OUTPUT ${generated} CONTENT "#include \"kernels/common/entry/device_rows.cuh\"\n#include \"kernels/formats/${name}.hpp\"
namespace workbench {
extern LayoutEntry (*const compiled_${name})();  // external, because nothing refers to it
LayoutEntry (*const compiled_${name})() = ${name}_entry;
}\n" @ONLY)
  target_sources(workbench_kernels PRIVATE ${generated})
endforeach()
file(GLOB cuda_sources CONFIGURE_DEPENDS kernels/*/*.cu kernels/formats/*/*.cu)
workbench_cuda_sources(workbench_kernels ${cuda_sources})
file(GLOB vendor_sources CONFIGURE_DEPENDS kernels/formats/*/cusparse.cpp kernels/formats/*/gpu.cpp kernels/vendor/cusparse.cpp kernels/vendor/cusparse_slices.cpp kernels/vendor/open_module.cpp)
target_sources(workbench_kernels PRIVATE ${vendor_sources})
# Also for tests that instantiate kernels. Device code calls constexpr functions of schedules (kernels/common/schedule/run.hpp), which
# needs --expt-relaxed-constexpr. -Wpedantic would warn about line markers that nvcc generates.
add_library(workbench_cuda_options INTERFACE)
target_compile_options(workbench_cuda_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcompiler=-Wall,-Wextra,-Werror,--param=ggc-min-expand=400,--param=ggc-min-heapsize=1000000;--Werror=all-warnings;-Xfatbin=-compress-all>")
target_link_libraries(workbench_cuda_options INTERFACE CUDA::cudart_static)
target_link_libraries(workbench_kernels PRIVATE workbench_cuda_options)
if(WORKBENCH_CHECK_ONLY)
  message(STATUS "CUDA: the syntax of kernels is checked, but this build cannot use a GPU (WORKBENCH_CHECK_ONLY=ON)")
  target_compile_options(workbench_kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-fdevice-syntax-only>)
  target_compile_definitions(workbench_kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:WORKBENCH_SYNTAX_ONLY>)
  # The kernels of one format are compiled, in one shape each: those of the format that was changed last, or of csr if git does not say.
  execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} log -1 --no-merges --format= --name-only -- kernels/formats OUTPUT_VARIABLE changed ERROR_QUIET)
  string(REGEX REPLACE "^kernels/formats/([^/]+)/.*" "\\1" format "${changed}")
  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/kernels/formats/${format}/cuda.cu)
    set(format csr)
  endif()
  message(STATUS "CUDA: the kernels of ${format} are compiled, for sm_90")
  add_library(workbench_compiled_kernels OBJECT kernels/formats/${format}/cuda.cu)
  target_link_libraries(workbench_compiled_kernels PRIVATE workbench_kernels workbench_cuda_options)
  target_compile_definitions(workbench_compiled_kernels PRIVATE WORKBENCH_SYNTAX_ONLY)
  set_target_properties(workbench_compiled_kernels PROPERTIES CUDA_ARCHITECTURES 90-real)
endif()

# cuSPARSE is large and may be missing where the program runs, so it is linked into a module that is loaded on demand from lib,
# beside the program.
add_library(workbench_cusparse MODULE kernels/vendor/module.cpp)
target_link_libraries(workbench_cusparse PRIVATE workbench_options CUDA::cusparse)
target_link_options(workbench_cusparse PRIVATE -Wl,--no-undefined)
set_target_properties(workbench_cusparse PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_dependencies(workbench_kernels workbench_cusparse)

# NCCL, which comes with some CUDA toolkits, is linked in the same way.
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
  message(STATUS "NCCL: ${NCCL_LIBRARY}")
  add_library(workbench_nccl MODULE kernels/vendor/nccl_module.cpp)
  target_include_directories(workbench_nccl SYSTEM PRIVATE ${NCCL_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(workbench_nccl PRIVATE workbench_options ${NCCL_LIBRARY})
  target_link_options(workbench_nccl PRIVATE -Wl,--no-undefined)
  set_target_properties(workbench_nccl PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  add_dependencies(workbench_kernels workbench_nccl)
else()
  message(STATUS "NCCL: left out (nccl.h and libnccl.so were not found), several GPUs cannot work together")
endif()
