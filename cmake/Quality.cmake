# Targets that check the sources without building: `format-check` (.clang-format) and `tidy` (.clang-tidy), if the tools are found.
file(GLOB_RECURSE quality_sources CONFIGURE_DEPENDS
  pipeline/*.[ch]pp stages/*.[ch]pp kernels/*.[ch]pp kernels/*.cu kernels/*.cuh viz/*.[ch]pp benchmarks/*.[ch]pp
  docs/examples/*.[ch]pp tests/*.[ch]pp)

find_program(CLANG_FORMAT_PROGRAM NAMES clang-format clang-format-14)
if(CLANG_FORMAT_PROGRAM)
  list(JOIN quality_sources "\n" quality_lines)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/sources.txt "${quality_lines}\n")
  add_custom_target(format-check
    COMMAND ${CLANG_FORMAT_PROGRAM} --dry-run -Werror --files=${CMAKE_BINARY_DIR}/generated/sources.txt
    COMMENT "clang-format" VERBATIM)
endif()

# Checks every .cpp that this build compiles. clang-tidy 14 cannot parse the headers of newer CUDA toolkits, nor headers that another
# compiler has precompiled.
find_program(RUN_CLANG_TIDY_PROGRAM NAMES run-clang-tidy run-clang-tidy-14)
find_program(CLANG_TIDY_PROGRAM NAMES clang-tidy clang-tidy-14)
if(RUN_CLANG_TIDY_PROGRAM AND CLANG_TIDY_PROGRAM)
  set(tidy_commands ${CMAKE_BINARY_DIR}/tidy/compile_commands.json)
  add_custom_target(tidy
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/tidy
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_BINARY_DIR}/compile_commands.json ${tidy_commands}
    COMMAND sed -i "s/-Winvalid-pch -include [^ ]*cmake_pch.hxx//" ${tidy_commands}
    COMMAND ${RUN_CLANG_TIDY_PROGRAM} -quiet -clang-tidy-binary ${CLANG_TIDY_PROGRAM} -p ${CMAKE_BINARY_DIR}/tidy
            -extra-arg=-Wno-unknown-warning-option "${CMAKE_SOURCE_DIR}/.*\\.cpp$"
    DEPENDS workbench_commit
    COMMENT "clang-tidy" VERBATIM USES_TERMINAL)
endif()
mark_as_advanced(CLANG_FORMAT_PROGRAM RUN_CLANG_TIDY_PROGRAM CLANG_TIDY_PROGRAM)
