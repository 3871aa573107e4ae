# Functions that turn a folder into a library or program. Sources are found by name, so that a new stage or layout needs no line here.

# workbench_room(NAME FOLDER [USES targets...] [PRIVATELY targets...]): builds the folder's .cpp files as library workbench_NAME.
function(workbench_room name folder)
  cmake_parse_arguments(room "" "" "USES;PRIVATELY" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  add_library(workbench_${name} STATIC ${sources})
  target_link_libraries(workbench_${name} PUBLIC workbench_options ${room_USES} PRIVATE ${room_PRIVATELY})
endfunction()

# workbench_cuda_sources(TARGET files...): adds .cu files, several of which are compiled at a time: CMake does so only for C++.
function(workbench_cuda_sources target)
  set(files ${ARGN})
  set(files_at_once 5)
  if(WORKBENCH_CHECK_ONLY)
    set(files_at_once 15)  # without optimisation, reading the headers takes most of the time
  endif()
  set(batch 0)
  while(files AND CMAKE_UNITY_BUILD)
    list(SUBLIST files 0 ${files_at_once} together)
    list(REMOVE_ITEM files ${together})
    list(TRANSFORM together REPLACE "(.+)" "#include \"\\1\"")
    list(JOIN together "\n" lines)
    set(generated ${CMAKE_BINARY_DIR}/generated/${target}_${batch}.cu)
    file(CONFIGURE OUTPUT ${generated} CONTENT "${lines}\n" @ONLY)
    target_sources(${target} PRIVATE ${generated})
    math(EXPR batch "${batch} + 1")
  endwhile()
  target_sources(${target} PRIVATE ${files})
endfunction()

# Formats in one file that were copied to kernels/formats (docs/format_in_one_file.md).
file(GLOB formats_in_one_file RELATIVE ${CMAKE_SOURCE_DIR}/kernels/formats CONFIGURE_DEPENDS kernels/formats/*.hpp)
list(TRANSFORM formats_in_one_file REPLACE "\\.hpp$" "")

# Builds all layouts: every .cpp of their folders, and cusparse.cpp, gpu.cpp and cuda.cu only with CUDA.
function(workbench_kernels)
  file(GLOB sources CONFIGURE_DEPENDS kernels/*/*.cpp kernels/common/*/*.cpp kernels/formats/*/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/(cusparse|gpu)\\.cpp$|kernels/(vendor|no_cuda)/")
  add_library(workbench_kernels STATIC ${sources})
  target_link_libraries(workbench_kernels PUBLIC workbench_options workbench_forecast PRIVATE workbench_system fmt::fmt Eigen3::Eigen)
  target_compile_definitions(workbench_kernels PUBLIC WORKBENCH_HAS_CUDA=$<BOOL:${WORKBENCH_HAS_CUDA}>)
  include(CudaKernels)
  # Only files of one folder are compiled together: names are unique there, not in the room.
  set_target_properties(workbench_kernels PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources workbench_kernels SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${folder} group)
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
  endforeach()
  # The longest. host.cpp has the loops of the CPU kernels of rows.
  set_source_files_properties(kernels/formats/rows/host.cpp kernels/formats/rows/presets.cpp kernels/formats/rows/gpu.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(WORKBENCH_CHECK_ONLY)
    # These loops are tested as users get them. g++ 12 crashes if its precompiled header is optimised less.
    set_source_files_properties(kernels/formats/rows/host.cpp PROPERTIES COMPILE_OPTIONS -O3 SKIP_PRECOMPILE_HEADERS ON)
  endif()
  # Runs untested kernels beside recipes in a separate process; the program finds it in lib.
  file(GLOB trial CONFIGURE_DEPENDS kernels/source/trial/*.cpp)
  add_executable(workbench_trial ${trial} kernels/source/trial.cpp kernels/common/compilation/cuda_driver.cpp core/system/crash.cpp)
  target_link_libraries(workbench_trial PRIVATE workbench_options)
  set_target_properties(workbench_trial PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  add_dependencies(workbench_kernels workbench_trial)
endfunction()

# Builds the program that closes a command off from the network and the user's files.
function(workbench_confined)
  add_executable(workbench_confined core/system/confined/main.cpp)
  target_link_libraries(workbench_confined PRIVATE workbench_options)
  set_target_properties(workbench_confined PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  add_dependencies(workbench_system workbench_confined)
endfunction()

# Builds the program that runs stages beside recipes. They are shared objects that call functions of these rooms, so that it contains
# and exports all of them.
function(workbench_stage_helper)
  add_executable(workbench_stage stages/beside/helper/main.cpp $<TARGET_OBJECTS:workbench_matrix> $<TARGET_OBJECTS:workbench_text>
    $<TARGET_OBJECTS:workbench_contract> $<TARGET_OBJECTS:workbench_forecast> $<TARGET_OBJECTS:workbench_stages>)
  target_link_libraries(workbench_stage PRIVATE workbench_options workbench_beside workbench_stages workbench_npz workbench_output workbench_system
    METIS::METIS AMD::AMD nlohmann_json::nlohmann_json fmt::fmt ${CMAKE_DL_LIBS})
  set_target_properties(workbench_stage PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib ENABLE_EXPORTS ON)
endfunction()

# Builds the list of all stages, layouts and generators. The headers of all layouts are collected here, so that the list names each once.
function(workbench_catalogue folder)
  workbench_room(catalogue ${folder} USES workbench_contract PRIVATELY workbench_generators workbench_stages workbench_beside workbench_kernels)
  file(GLOB headers RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS kernels/formats/*/layout.hpp)
  foreach(format IN LISTS formats_in_one_file)
    list(APPEND headers kernels/formats/${format}.hpp)
  endforeach()
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"")
  list(JOIN headers "\n" lines)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/workbench_layouts.hpp CONTENT "#pragma once\n${lines}\n" @ONLY)
  target_include_directories(workbench_catalogue PRIVATE ${CMAKE_BINARY_DIR}/generated)
endfunction()

# Formats and stages beside a recipe call functions of the workbench, which are looked up in the program that loads them.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include/spmv-workbench)
file(CREATE_LINK ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/include/spmv-workbench/format SYMBOLIC)
function(workbench_serves_formats target)
  foreach(names _ZN9workbench _ZNK9workbench _ZTIN9workbench _ZTVN9workbench)
    target_link_options(${target} PRIVATE "-Wl,--export-dynamic-symbol=${names}*")
  endforeach()
endfunction()

# Builds the program, and everything in its folder except main.cpp as a library for the tests.
function(workbench_program name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  add_library(workbench_cli STATIC ${sources})
  target_link_libraries(workbench_cli
    PUBLIC workbench_options workbench_run
    PRIVATE workbench_cache_model workbench_bench workbench_choose workbench_solve workbench_distributed workbench_serve workbench_schema workbench_catalogue workbench_fetch workbench_output workbench_system workbench_kernels CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
  include(Versions)
  add_dependencies(workbench_cli workbench_commit)
  target_include_directories(workbench_cli PRIVATE ${CMAKE_BINARY_DIR}/generated)
  target_compile_definitions(workbench_cli PRIVATE
    WORKBENCH_VERSION="${PROJECT_VERSION}" WORKBENCH_LIBRARY_VERSIONS="${WORKBENCH_LIBRARY_VERSIONS}")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/${folder}/provenance.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # each commit changes it
  add_executable(${name} ${folder}/main.cpp)
  target_link_libraries(${name} PRIVATE workbench_cli)
  workbench_serves_formats(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  workbench_schemas(${name})
endfunction()

# Writes the schemas of recipes, suites and spaces, which .taplo.toml of the project names, whenever the program was linked.
function(workbench_schemas program)
  set(folder ${CMAKE_SOURCE_DIR}/build/schema)
  cmake_path(IS_PREFIX CMAKE_SOURCE_DIR ${CMAKE_BINARY_DIR} NORMALIZE in_tree)
  if(NOT in_tree)
    set(folder ${CMAKE_BINARY_DIR}/schema)
  endif()
  foreach(kind recipe suite space)
    add_custom_command(TARGET ${program} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${program} schema ${kind} > ${folder}/${kind}.json.new
      COMMAND ${CMAKE_COMMAND} -E rename ${folder}/${kind}.json.new ${folder}/${kind}.json VERBATIM)
  endforeach()
endfunction()

# Builds the library for other programs, libspmv_workbench.so, which contains the objects of the rooms that it needs.
function(workbench_library folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  add_library(spmv_workbench SHARED ${sources})
  target_include_directories(spmv_workbench PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/${folder}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(spmv_workbench INTERFACE cxx_std_17)
  target_link_libraries(spmv_workbench PRIVATE workbench_options workbench_engine workbench_solving workbench_catalogue workbench_kernels fmt::fmt)
  # Before 1.0 any minor version may change the interface. Modules and programs that it loads or starts are beside it, in lib.
  set_target_properties(spmv_workbench PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
    LINK_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/exports.map)
  target_link_options(spmv_workbench PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/${folder}/exports.map -Wl,--as-needed)
endfunction()
