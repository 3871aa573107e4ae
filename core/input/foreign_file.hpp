// Names what a file is that no reader takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace workbench {

/// The words behind "found" and "expected" of an error message.
struct ForeignFile {
    std::string found;
    std::string expected;  // empty: any file that is read
};

/// What a file is that begins with these bytes: an archive or a compression that is not read, an HTML page, a pointer of Git
/// LFS, another format of matrices, graphs or tables. None if it is unknown.
[[nodiscard]] std::optional<ForeignFile> foreign_file(std::string_view start);

/// Numbers that look like the body of a Matrix Market file, or like an edge list. `is_whole`: the text ends behind `start`.
/// None if they look like something else, such as the graph of METIS that their first line may announce.
[[nodiscard]] std::optional<ForeignFile> without_banner(std::string_view start, bool is_whole);

}  // namespace workbench
