# Precompiles the headers that most files include.
if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
  return()
endif()
set(precompiled_headers <algorithm> <array> <cmath> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <numeric>
  <optional> <span> <sstream> <string> <variant> <vector> <fmt/format.h>)
get_property(rooms DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/precompiled.cpp CONTENT "")
add_library(workbench_precompiled OBJECT ${CMAKE_BINARY_DIR}/generated/precompiled.cpp)
target_link_libraries(workbench_precompiled PRIVATE workbench_options Kokkos::kokkos fmt::fmt nlohmann_json::nlohmann_json)
target_precompile_headers(workbench_precompiled PRIVATE ${precompiled_headers} <nlohmann/json.hpp> <Kokkos_Core.hpp>)

foreach(room IN LISTS rooms)
  get_target_property(type ${room} TYPE)
  if(NOT type STREQUAL "STATIC_LIBRARY")
    continue()
  endif()
  # A precompiled header is usable only with the same macros of its libraries.
  target_link_libraries(${room} PRIVATE fmt::fmt Kokkos::kokkos nlohmann_json::nlohmann_json)
  if(room STREQUAL "workbench_kernels")
    # Without Kokkos and JSON, which few kernels need, it is read in half of the time.
    target_precompile_headers(${room} PRIVATE ${precompiled_headers} ${CMAKE_SOURCE_DIR}/kernels/common/entry/format.hpp)
  else()
    target_precompile_headers(${room} REUSE_FROM workbench_precompiled)
  endif()
endforeach()
