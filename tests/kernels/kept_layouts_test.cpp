// A layout of any format that was written to a file and read back is unchanged.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "support/layouts/layout_recipes.hpp"

namespace workbench {
namespace {

class ToMemory final : public Transfer {
public:
    [[nodiscard]] bool reads() const override { return false; }
    std::string bytes;

private:
    void pass_bytes(void* data, std::size_t count) override { bytes.append(static_cast<const char*>(data), count); }
    [[nodiscard]] std::size_t left() const override { return 0; }
};

class FromMemory final : public Transfer {
public:
    explicit FromMemory(std::string_view bytes) : bytes_(bytes) {}
    [[nodiscard]] bool reads() const override { return true; }
    [[nodiscard]] std::size_t left() const override { return bytes_.size(); }

private:
    void pass_bytes(void* data, std::size_t count) override {
        if (count > bytes_.size()) throw BrokenTransfer("cut");
        if (count > 0) std::memcpy(data, bytes_.data(), count);
        bytes_.remove_prefix(count);
    }
    std::string_view bytes_;
};

template <ValueType Value>
std::vector<Slot> slots_of(const Layout<Value>& layout) {
    std::vector<Slot> slots;
    layout.for_each_slot([&slots](const Slot& slot) { slots.push_back(slot); });
    return slots;
}

template <ValueType Value>
void check_same(const Layout<Value>& a, const Layout<Value>& b) {
    CHECK_EQ(a.rows(), b.rows());
    CHECK_EQ(a.columns(), b.columns());
    CHECK_EQ(a.nonzeros(), b.nonzeros());
    CHECK_EQ(a.bytes_to_move(), b.bytes_to_move());
    CHECK(a.notes() == b.notes());
    CHECK(slots_of(a) == slots_of(b));
    const std::vector<LayoutField> fields = a.fields();
    const std::vector<LayoutField> others = b.fields();
    REQUIRE_EQ(fields.size(), others.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
        CAPTURE(fields[i].name);
        CHECK_EQ(fields[i].type, others[i].type);
        REQUIRE_EQ(fields[i].count, others[i].count);
        if (fields[i].bytes() > 0) CHECK_EQ(std::memcmp(fields[i].data, others[i].data, fields[i].bytes()), 0);
    }
}

template <ValueType Value>
void check_kept(const LayoutRecipe& recipe, const CsrMatrix& matrix) {
    const LayoutEntry& entry = recipe.layout();
    const bool can_be_kept = entry.empty.get<Value>() != nullptr;
    REQUIRE(can_be_kept);
    const StagedMatrix staged = recipe.stage(matrix);
    const auto layout = recipe.build<Value>(staged);
    ToMemory written;
    layout->transfer(written);

    const auto back = entry.empty.get<Value>()(recipe.recipe.layouts.front().parameters);
    FromMemory reading(written.bytes);
    back->transfer(reading);
    CHECK_EQ(reading.left(), 0);
    check_same(*layout, *back);
    check_layout(*back, staged.matrix);

    // A truncated file is detected before memory is allocated for the missing part.
    for (const std::size_t left : {std::size_t{0}, written.bytes.size() / 3, written.bytes.size() - 1}) {
        const auto cut = entry.empty.get<Value>()(recipe.recipe.layouts.front().parameters);
        FromMemory some(std::string_view(written.bytes).substr(0, left));
        CHECK_THROWS_AS(cut->transfer(some), BrokenTransfer);
    }
}

}  // namespace

TEST_SUITE("kept layouts") {
    TEST_CASE("every layout of the battery is unchanged after writing and reading") {
        for (const LayoutRecipe& recipe : layout_recipes()) {
            for (const NamedMatrix& one : battery()) {
                if (!recipe.takes(one.matrix)) continue;
                CAPTURE(recipe.name);
                CAPTURE(one.name);
                try {
                    check_kept<double>(recipe, one.matrix);
                    check_kept<float>(recipe, one.matrix);
                } catch (const Unsuitable&) {
                }
            }
        }
    }

    TEST_CASE("an impossible number of elements takes no memory") {
        ToMemory written;
        std::size_t count = std::size_t{1} << 60;
        written(count);
        std::vector<double> values;
        FromMemory reading(written.bytes);
        CHECK_THROWS_AS(reading(values), BrokenTransfer);
        std::string text;
        FromMemory again(written.bytes);
        CHECK_THROWS_AS(again(text), BrokenTransfer);
        std::vector<std::string> texts;
        FromMemory third(written.bytes);
        CHECK_THROWS_AS(third(texts), BrokenTransfer);
    }
}

}  // namespace workbench
