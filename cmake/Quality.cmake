# Targets that check the sources without building: `format-check` (.clang-format) and `tidy` (.clang-tidy), if the tools are found.
file(GLOB_RECURSE quality_sources CONFIGURE_DEPENDS
  core/*.[ch]pp pipeline/*.[ch]pp studies/*.[ch]pp frontends/*.[ch]pp stages/*.[ch]pp kernels/*.[ch]pp kernels/*.cu kernels/*.cuh viz/*.[ch]pp benchmarks/*.[ch]pp
  docs/examples/*.[ch]pp tests/*.[ch]pp)

find_program(CLANG_FORMAT_PROGRAM NAMES clang-format clang-format-14)
if(CLANG_FORMAT_PROGRAM)
  list(JOIN quality_sources "\n" quality_lines)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/sources.txt "${quality_lines}\n")
  add_custom_target(format-check
    COMMAND ${CLANG_FORMAT_PROGRAM} --dry-run -Werror --files=${CMAKE_BINARY_DIR}/generated/sources.txt
    COMMENT "clang-format" VERBATIM)
endif()

# Checks every .cpp. clang-tidy needs one command per file, without the headers that another compiler has precompiled, so a second
# build folder is configured for it: each file alone and, because clang-tidy 14 cannot parse newer CUDA headers, only .cpp files.
find_program(RUN_CLANG_TIDY_PROGRAM NAMES run-clang-tidy run-clang-tidy-14)
find_program(CLANG_TIDY_PROGRAM NAMES clang-tidy clang-tidy-14)
if(RUN_CLANG_TIDY_PROGRAM AND CLANG_TIDY_PROGRAM)
  add_custom_target(tidy
    COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${CMAKE_BINARY_DIR}/tidy -G ${CMAKE_GENERATOR} -DCMAKE_BUILD_TYPE=Debug
            -DWORKBENCH_CUDA=${WORKBENCH_CUDA} -DKokkos_DIR=${Kokkos_DIR}
    COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR}/tidy --target workbench_commit
    COMMAND ${RUN_CLANG_TIDY_PROGRAM} -quiet -clang-tidy-binary ${CLANG_TIDY_PROGRAM} -p ${CMAKE_BINARY_DIR}/tidy
            -extra-arg=-Wno-unknown-warning-option -extra-arg=-Wno-unused-command-line-argument "${CMAKE_SOURCE_DIR}/.*\\.cpp$"
    COMMENT "clang-tidy" VERBATIM USES_TERMINAL)
endif()
mark_as_advanced(CLANG_FORMAT_PROGRAM RUN_CLANG_TIDY_PROGRAM CLANG_TIDY_PROGRAM)
