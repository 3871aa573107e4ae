// The files that recipes bring are part of what identifies a measurement.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/system/checksum.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/brought_files.hpp"
#include "studies/bench/line.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

struct Folder {
    void write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((folder.path() / name).parent_path());
        std::ofstream(folder.path() / name) << text;
    }
    [[nodiscard]] std::string contents_of(const std::string& recipe) const {
        return contents_of_files(parse_recipe(recipe, folder.path() / "mine.toml", catalogue()));
    }

    TemporaryFolder folder;
};

const std::string csr = "[layout]\nuse = 'csr'\n";

}  // namespace

TEST_CASE("a recipe without files has no contents, and its key is that of earlier versions") {
    CHECK(contents_of_files(parse_recipe("[[stage]]\nuse = 'row_sort'\n" + csr, "r.toml", catalogue())).empty());
    BenchKey key{"h", "m", 5, Precision::f64, "p", "d", "o"};
    CHECK(key.text() == R"({"recipe":"h","matrix":"m","bytes":5,"precision":"f64","program":"p","device":"d","options":"o"})");
    key.files = "a.cpp 1";
    key.software = "Eigen 3";
    CHECK(key.text().ends_with(R"("options":"o","files":"a.cpp 1","software":"Eigen 3"})"));
}

TEST_CASE("the contents of a kernel's source are those of all files that it includes in quotes") {
    const Folder folder;
    folder.write("mine.cpp", "#include \"below/a.hpp\"\n#include \"arrays.hpp\"\n#include <cmath>\n");
    folder.write("below/a.hpp", "#include \"b.hpp\"\n#include \"a.hpp\"\n");
    folder.write("below/b.hpp", "1");
    folder.write("beside.hpp", "1");
    folder.write("other.cpp", "1");
    const std::string recipe = csr + "[kernel]\ncpu_source = 'mine.cpp'\n";
    const std::string before = folder.contents_of(recipe);
    CHECK(before.starts_with("mine.cpp "));
    CHECK(before.size() == std::string("mine.cpp ").size() + 32);
    folder.write("beside.hpp", "2");
    folder.write("other.cpp", "2");
    CHECK(folder.contents_of(recipe) == before);
    folder.write("below/b.hpp", "2");
    const std::string deeper = folder.contents_of(recipe);
    CHECK(deeper != before);
    folder.write("mine.cpp", "#include \"below/a.hpp\"\n");
    CHECK(folder.contents_of(recipe) != deeper);
    // Wherever the folder is.
    const Folder copy;
    std::filesystem::copy(folder.folder.path(), copy.folder.path(),
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    CHECK(copy.contents_of(recipe) == folder.contents_of(recipe));
}

TEST_CASE("the contents of a program are those of its kind in its folder, and a stage's file counts, too") {
    const Folder folder;
    folder.write("order.py", "import helper\n");
    folder.write("helper.py", "1");
    folder.write("note.txt", "1");
    folder.write("kernel.cpp", "1");
    const std::string recipe = "[[stage]]\nprogram = 'python3 order.py'\n" + csr + "[kernel]\ncpu_source = 'kernel.cpp'\n";
    const std::string before = folder.contents_of(recipe);
    CHECK(before.starts_with("order.py "));
    CHECK(before.find("; kernel.cpp ") != std::string::npos);
    folder.write("note.txt", "2");
    CHECK(folder.contents_of(recipe) == before);
    folder.write("helper.py", "2");
    CHECK(folder.contents_of(recipe) != before);

    folder.write("order.txt", "0\n1\n");
    const std::string imported = "[[stage]]\nuse = 'imported'\norder = 'order.txt'\n" + csr;
    CHECK(folder.contents_of(imported) == "order.txt " + checksum_of("0\n1\n"));
}

TEST_CASE("the contents of a format in a file are those of its source") {
    const Folder folder;
    folder.write("mine.hpp", "#include \"b.hpp\"\n");
    folder.write("b.hpp", "1");
    Recipe recipe = parse_recipe(csr, "r.toml", catalogue());
    LayoutEntry entry = *recipe.layouts.front().entry;
    entry.file = folder.folder.path() / "mine.hpp";
    recipe.layouts.front().entry = &entry;
    const std::string before = contents_of_files(recipe);
    CHECK(before.starts_with("mine.hpp "));
    folder.write("b.hpp", "2");
    CHECK(contents_of_files(recipe) != before);
}

}  // namespace workbench
