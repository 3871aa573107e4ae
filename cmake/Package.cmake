# The files that `cmake --install` puts under a prefix, and `cpack` into a package that runs on a machine with only the GPU's driver,
# the CUDA toolkit and glibc. They do not depend on the prefix: the program finds them relative to itself.
#   bin/workbench                      lib/spmv-workbench/      the libraries that it needs, in a folder of their own
#   include/spmv-workbench/format/     the headers for formats and stages beside a recipe
#   share/spmv-workbench/recipes/, spaces/, suites/, schema/   share/doc/, share/man/   and completions for the shells
#   lib/libspmv_workbench.so, include/ the library for other programs; lib/cmake/spmv_workbench/ for find_package
#   libexec/spmv-workbench/            check_gpu.sh, gpu_test; share/spmv-workbench/layouts/ for them (where the tests are built)
# Parts for `cmake --install BUILD --component PART`, and packages of Debian: library (what programs that use it need when they run, and the
# recipes), development (its header and CMake package), python, modules (what is loaded or started only for some commands and files, and
# needs libraries of its own), program (all that is not named otherwise), documentation, and checks (of a GPU and of ranks).
# Not included: glibc, cuSPARSE (250 MB with nvJitLink), NCCL, HDF5 and matio (18 MB with what they need), and libcurl and cpp-httplib, which
# are loaded on demand.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
option(WORKBENCH_BUNDLE_LIBRARIES "Install the libraries that the program needs beside it" ON)
set(private_libraries lib/spmv-workbench)
install(TARGETS workbench RUNTIME_DEPENDENCY_SET workbench_dependencies RUNTIME DESTINATION bin)
install(TARGETS workbench_trial workbench_confined RUNTIME DESTINATION ${private_libraries} COMPONENT library)
install(TARGETS workbench_stage RUNTIME_DEPENDENCY_SET library_dependencies RUNTIME DESTINATION ${private_libraries} COMPONENT library)
foreach(program workbench_matlab workbench_hdf5)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${private_libraries} COMPONENT modules)
    list(APPEND programs_beside ${program})
  endif()
endforeach()
set(packaged_programs workbench)
if(TARGET gpu_test)
  install(TARGETS gpu_test RUNTIME_DEPENDENCY_SET workbench_dependencies RUNTIME DESTINATION libexec/spmv-workbench COMPONENT checks)
  install(PROGRAMS tests/gpu/check_gpu.sh DESTINATION libexec/spmv-workbench COMPONENT checks)
  install(DIRECTORY tests/layouts DESTINATION share/spmv-workbench COMPONENT checks)
  list(APPEND packaged_programs gpu_test)
endif()
if(TARGET ranks_test)
  install(TARGETS ranks_test RUNTIME_DEPENDENCY_SET workbench_dependencies RUNTIME DESTINATION libexec/spmv-workbench COMPONENT checks)
  list(APPEND packaged_programs ranks_test)
endif()
set(libraries_of_others
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util)\\.so" "^libcuda\\.so" "^libcusparse" "^libnvJitLink" "^libnccl"
    "^libspmv_workbench"
  POST_EXCLUDE_REGEXES "/ld-linux[^/]*$"
  LIBRARY DESTINATION ${private_libraries})
if(WORKBENCH_BUNDLE_LIBRARIES)
  install(RUNTIME_DEPENDENCY_SET workbench_dependencies ${libraries_of_others} COMPONENT program)
endif()
install(DIRECTORY recipes DESTINATION share/spmv-workbench COMPONENT library)
install(DIRECTORY spaces suites DESTINATION share/spmv-workbench)
install(FILES packaging/taplo.toml DESTINATION share/spmv-workbench RENAME .taplo.toml)  # for editors
# The headers with which formats and stages beside a recipe are compiled.
set(headers include/spmv-workbench/format)
install(DIRECTORY core/matrix core/text core/contract core/forecast DESTINATION ${headers}/core COMPONENT library
  FILES_MATCHING PATTERN "*.hpp")
install(FILES core/system/host_memory.hpp DESTINATION ${headers}/core/system COMPONENT library)
install(DIRECTORY kernels/common DESTINATION ${headers}/kernels COMPONENT library
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
# NVRTC compiles kernels that the program lacks from these.
install(DIRECTORY kernels/formats DESTINATION ${headers}/kernels COMPONENT library
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(FILES kernels/format.hpp DESTINATION ${headers}/kernels COMPONENT library)
install(FILES kernels/device/host_loops.hpp kernels/device/tuned.hpp
  DESTINATION ${headers}/kernels/device COMPONENT library)
install(FILES kernels/source/format_head.hpp DESTINATION ${headers}/kernels/source COMPONENT library)
install(FILES stages/graph.hpp stages/order.hpp stages/parameters.hpp stages/stages.hpp DESTINATION ${headers}/stages
  COMPONENT library)
install(FILES README.md CHANGELOG.md LICENSE CITATION.cff DESTINATION share/doc/spmv-workbench COMPONENT documentation)
install(DIRECTORY docs DESTINATION share/doc/spmv-workbench COMPONENT documentation FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.gif" PATTERN "*.ipynb" PATTERN "cg/*")

# install_what_it_prints(FILE FOLDER ARGUMENTS...): installs the output of the program as FOLDER/FILE.
function(install_what_it_prints file folder)
  set(printed ${CMAKE_BINARY_DIR}/generated/${file})
  install(CODE "execute_process(COMMAND \"$<TARGET_FILE:workbench>\" ${ARGN} OUTPUT_FILE \"${printed}\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${printed} DESTINATION ${folder})
endfunction()
install_what_it_prints(workbench.1 share/man/man1 manual)
install_what_it_prints(workbench share/bash-completion/completions completion bash)
install_what_it_prints(_workbench share/zsh/site-functions completion zsh)
install_what_it_prints(workbench.fish share/fish/vendor_completions.d completion fish)
foreach(kind recipe suite space)
  install_what_it_prints(${kind}.json share/spmv-workbench/schema schema ${kind})
endforeach()

# RPATH instead of RUNPATH, because it also applies to dependencies of the libraries.
foreach(program IN LISTS packaged_programs)
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../${private_libraries};$ORIGIN/../../${private_libraries}")
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endforeach()

foreach(program workbench_stage ${programs_beside})
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN")
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endforeach()

if(TARGET gpu_test AND WORKBENCH_LIBRARY)
  set_property(TARGET gpu_test APPEND PROPERTY INSTALL_RPATH "$ORIGIN/../../lib")
endif()

foreach(module workbench_cusparse workbench_nccl workbench_mpi workbench_http)
  if(TARGET ${module})
    install(TARGETS ${module} LIBRARY DESTINATION ${private_libraries} COMPONENT modules)
    # The usual places of a CUDA toolkit; LD_LIBRARY_PATH has precedence.
    set_target_properties(${module} PROPERTIES INSTALL_RPATH "/usr/local/cuda/lib64:/opt/cuda/lib64")
  endif()
endforeach()

# The shared libarchive depends on libxml2 and 31 MB of ICU for formats that are not read here; the static one does not.
find_library(LIBARCHIVE_STATIC_LIBRARY libarchive.a)
find_library(ZSTD_LIBRARY NAMES zstd libzstd.so.1)
mark_as_advanced(LIBARCHIVE_STATIC_LIBRARY ZSTD_LIBRARY)
if(LIBARCHIVE_STATIC_LIBRARY AND ZSTD_LIBRARY)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${LibArchive_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_LIBRARIES ${LIBARCHIVE_STATIC_LIBRARY} z lzma bz2 nettle ${ZSTD_LIBRARY})
  check_cxx_source_compiles("
    #include <archive.h>
    int main() { return archive_read_support_format_zip_seekable(archive_read_new()); }" WORKBENCH_LIBARCHIVE_LINKS_STATICALLY)
  if(WORKBENCH_LIBARCHIVE_LINKS_STATICALLY)
    set_target_properties(LibArchive::LibArchive PROPERTIES
      IMPORTED_LOCATION ${LIBARCHIVE_STATIC_LIBRARY}
      INTERFACE_LINK_LIBRARIES "z;lzma;bz2;nettle;${ZSTD_LIBRARY}")
  endif()
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()

if(WORKBENCH_LIBRARY)
  include(CMakePackageConfigHelpers)
  set(package_folder lib/cmake/spmv_workbench)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/spmv_workbenchConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(TARGETS spmv_workbench EXPORT spmv_workbench RUNTIME_DEPENDENCY_SET library_dependencies
    LIBRARY DESTINATION lib COMPONENT library NAMELINK_COMPONENT development)
  install(DIRECTORY frontends/library/include/ DESTINATION include COMPONENT development)
  install(EXPORT spmv_workbench NAMESPACE spmv_workbench:: FILE spmv_workbenchConfig.cmake
    DESTINATION ${package_folder} COMPONENT development)
  install(FILES ${CMAKE_BINARY_DIR}/generated/spmv_workbenchConfigVersion.cmake
    DESTINATION ${package_folder} COMPONENT development)
  # The prefix can be moved. Programs get an RPATH, as they do from the CMake package.
  file(WRITE ${CMAKE_BINARY_DIR}/generated/spmv_workbench.pc "prefix=\${pcfiledir}/../..
Name: spmv_workbench
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Cflags: -I\${prefix}/include
Libs: -L\${prefix}/lib -Wl,-rpath,\${prefix}/lib -lspmv_workbench
")
  install(FILES ${CMAKE_BINARY_DIR}/generated/spmv_workbench.pc DESTINATION lib/pkgconfig COMPONENT development)
  set_target_properties(spmv_workbench PROPERTIES INSTALL_RPATH "$ORIGIN/spmv-workbench")
  target_link_options(spmv_workbench PRIVATE -Wl,--disable-new-dtags)
endif()

if(WORKBENCH_BUNDLE_LIBRARIES)
  install(RUNTIME_DEPENDENCY_SET library_dependencies ${libraries_of_others} COMPONENT library)
endif()
include(DebianPackages)
set(CPACK_GENERATOR TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_FILE_NAME "spmv-workbench-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PACKAGE_CHECKSUM SHA256)
include(CPack)
