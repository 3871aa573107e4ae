# Embeds the templates of the pages, which `npm run build` builds from viz/page and which are kept in the repository: of the page that
# runs write, and of that of `workbench serve`.
set(WORKBENCH_PAGE_FILE ${CMAKE_SOURCE_DIR}/viz/page/report.template.html)
set(WORKBENCH_LIVE_PAGE_FILE ${CMAKE_SOURCE_DIR}/viz/page/live.template.html)
target_compile_definitions(workbench_viz PRIVATE WORKBENCH_PAGE_FILE="${WORKBENCH_PAGE_FILE}"
                           WORKBENCH_LIVE_PAGE_FILE="${WORKBENCH_LIVE_PAGE_FILE}")
# viz/page_file.cpp embeds them, dependencies that the compiler does not report, and that CMake ignores for a file in a unity build.
set_source_files_properties(${CMAKE_SOURCE_DIR}/viz/page_file.cpp PROPERTIES
                            OBJECT_DEPENDS "${WORKBENCH_PAGE_FILE};${WORKBENCH_LIVE_PAGE_FILE}" SKIP_UNITY_BUILD_INCLUSION ON)
