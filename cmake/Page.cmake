# The page that runs write: its template, made of viz/page by `npm run build` and kept in the repository, put into the program.
set(WORKBENCH_PAGE_FILE ${CMAKE_SOURCE_DIR}/viz/page/report.template.html)
target_compile_definitions(workbench_viz PRIVATE WORKBENCH_PAGE_FILE="${WORKBENCH_PAGE_FILE}")
# The compiler does not see that viz/page_file.cpp reads it.
set_source_files_properties(${CMAKE_SOURCE_DIR}/viz/page_file.cpp PROPERTIES OBJECT_DEPENDS ${WORKBENCH_PAGE_FILE})
