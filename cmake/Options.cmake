# Language standard, warnings and sanitizers, in the target workbench_options, which every room links.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  # Since g++ 13, -O3 implies options of the processor without which files that are compiled with -Og cannot use its precompiled header;
  # they read the headers anew.
  set(CMAKE_PCH_WARN_INVALID OFF)
endif()
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With these settings, and -fpch-preprocess, ccache keeps what is compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)

if(WORKBENCH_CHECK_ONLY)
  string(REPLACE "-O3" "-O1" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")  # in two thirds of the time
endif()

add_library(workbench_options INTERFACE)
target_include_directories(workbench_options INTERFACE ${CMAKE_SOURCE_DIR})

# Contraction to fused multiply-add is off, so that pictures and references are bit-identical on every processor.
set(WORKBENCH_WARNINGS -Wall -Wextra -Wpedantic)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Newer versions of g++, and of libraries that mark functions as deprecated, warn where the tested ones do not. That must not keep
  # anybody from building.
  list(APPEND WORKBENCH_WARNINGS -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False warnings about std::optional (GCC bug 80635) and about overlapping copies inside std::string (GCC bug 105651).
  list(APPEND WORKBENCH_WARNINGS -Wno-maybe-uninitialized -Wno-restrict)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # In a unity build GCC takes a source file with an unnamed namespace for a header.
  list(APPEND WORKBENCH_WARNINGS -Wno-subobject-linkage)
endif()
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # In precompiled headers GCC takes the standard library for a file of the project, and warns falsely about copies inside std::string.
  # Builds without precompiled headers compile with these warnings.
  list(APPEND WORKBENCH_WARNINGS -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
target_compile_options(workbench_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${WORKBENCH_WARNINGS};-ffp-contract=off>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC collects its garbage rarely, which saves a tenth of the time to compile and takes some 100 MB more memory.
  target_compile_options(workbench_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-expand=400 --param ggc-min-heapsize=1000000>")
endif()

if(WORKBENCH_SANITIZE)
  # With sanitizers -O2 takes twice as long to compile as -O1.
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined;-fno-sanitize-recover=all;-fno-omit-frame-pointer;-O1;-g1>")
  add_link_options(-fsanitize=address,undefined)
endif()

if(WORKBENCH_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "WORKBENCH_FUZZ needs clang, which has libFuzzer; this is ${CMAKE_CXX_COMPILER_ID}. fuzz/run sets it up.")
  endif()
  set(fuzz_sanitizers -fsanitize=fuzzer-no-link,address,undefined)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${fuzz_sanitizers};-fno-sanitize-recover=all;-fno-omit-frame-pointer;-O1;-g1>")
  add_link_options(${fuzz_sanitizers})
endif()
