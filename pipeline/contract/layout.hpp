// What a layout promises: how the nonzeros lie in memory, slot by slot.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/contract/kernel.hpp"
#include "pipeline/contract/parameters.hpp"
#include "pipeline/contract/pipeline_facts.hpp"
#include "pipeline/contract/precision.hpp"
#include "pipeline/contract/storage_size.hpp"
#include "pipeline/contract/transfer.hpp"
#include "pipeline/matrix/share_matrix.hpp"

namespace workbench {

/// What an array holds.
enum class ArrayRole {
    value,      // one matrix value a slot
    column,     // one column a slot, possibly relative to a base
    structure,  // everything else: offsets, row lists, boundaries
    number,     // no array: a single number
};

[[nodiscard]] std::string_view name_of(ArrayRole role);

/// One array of a layout, as it lies in memory.
struct LayoutArray {
    std::string name;
    ArrayRole role = ArrayRole::structure;
    const void* data = nullptr;  // host memory of the layout
    std::size_t count = 0;
    std::size_t element_bytes = 0;

    [[nodiscard]] std::size_t bytes() const { return count * element_bytes; }
};

/// An array of a layout, for Layout::arrays.
template <typename Element>
[[nodiscard]] LayoutArray layout_array(std::string name, ArrayRole role, const HostArray<Element>& array) {
    return {std::move(name), role, array.data(), array.size(), sizeof(Element)};
}

/// What the elements of an array are, or what a number is.
enum class ElementType { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

[[nodiscard]] std::size_t bytes_of(ElementType type);
[[nodiscard]] std::string_view name_of(ElementType type);

/// One entry of a layout's list of fields: an array, or a single number.
struct LayoutField {
    std::string name;
    ArrayRole role = ArrayRole::structure;
    bool is_array = true;
    ElementType type = ElementType::i32;
    std::string length = {};     // of an array, in words: "rows + 1"; empty: nobody said
    const void* data = nullptr;  // host memory of the layout
    std::size_t count = 1;

    [[nodiscard]] std::size_t bytes() const { return count * bytes_of(type); }
};

/// One place for a nonzero: element `index` of value array number `array`. Its column stands in element `column_index` of a
/// column array, which the slots of a block may share, or follows from the structure of the layout.
struct Slot {
    int array = 0;            // which value array: an index into Layout::arrays()
    int column_array = 0;     // the array that tells its column; -1: none, the column follows from the place
    Offset index = 0;         // the element of the value array
    Offset column_index = 0;  // the element of the column array, where there is one
    Offset nonzero = -1;      // position in CsrMatrix::values of the matrix it was built from; -1: padding
    Index column = 0;         // column of the current order whose x this slot reads; -1: padding that reads no x
    Index row = 0;            // row of the current order that it adds to; -1: padding that adds to no row

    friend bool operator==(const Slot&, const Slot&) = default;
};

/// A slot that a thread of a GPU kernel reads.
struct Read {
    std::int64_t warp = 0;  // 32 threads
    int lane = 0;
    std::int64_t step = 0;  // in which of the warp's iterations
    int array = 0;          // the slot: an element of a value array, by its number in Layout::arrays()
    Offset index = 0;
    Index row = 0;     // that the thread adds to
    Index column = 0;  // whose x it reads; -1: none

    friend bool operator==(const Read&, const Read&) = default;
};

/// A matrix in its target layout for one precision.
template <ValueType Value>
class Layout {
public:
    Layout() = default;
    Layout(const Layout&) = delete;
    Layout& operator=(const Layout&) = delete;
    virtual ~Layout() = default;

    [[nodiscard]] virtual Index rows() const = 0;
    [[nodiscard]] virtual Index columns() const = 0;
    [[nodiscard]] virtual Offset nonzeros() const = 0;

    /// All arrays, in a fixed order. Their bytes are the footprint.
    [[nodiscard]] virtual std::vector<LayoutArray> arrays() const = 0;

    /// The arrays with the numbers between them, as the layout lists them. Empty where it has no such list.
    [[nodiscard]] virtual std::vector<LayoutField> fields() const { return {}; }

    /// What is worth knowing of how this matrix was stored ("slices with columns of 32 bits", "3 of 17"); empty: nothing.
    [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> notes() const { return {}; }

    /// Passes all that it holds, what no kernel reads included. Called where the layout's entry has an `empty` alone.
    virtual void transfer(Transfer&) { throw std::logic_error("a layout that cannot be kept"); }

    /// Walks the slots in the order of memory of each value array; one that serves nonzeros (i, j) and (j, i), twice in a row.
    virtual void for_each_slot(const std::function<void(const Slot&)>& visit) const = 0;

    /// Bytes that one y = A x must move at least: the arrays once, x once, y once.
    [[nodiscard]] std::int64_t bytes_to_move() const {
        std::int64_t bytes = static_cast<std::int64_t>(sizeof(Value)) * (std::int64_t{rows()} + columns());
        for (const LayoutArray& array : arrays()) bytes += static_cast<std::int64_t>(array.bytes());
        return bytes;
    }
};

template <typename Value>
using BuildLayout = std::unique_ptr<Layout<Value>> (*)(const StagedMatrix&, const Parameters&);

template <typename Value>
using EmptyLayout = std::unique_ptr<Layout<Value>> (*)(const Parameters&);

template <typename Value>
using WalkReads = void (*)(const Layout<Value>&, const std::function<void(const Read&)>&);

/// Which thread of a GPU kernel reads what, by the functions that the kernel itself calls; on any machine.
struct ScheduleEntry {
    std::string kernel;
    /// Visits every read, in the order of a thread's steps.
    ForEachPrecision<WalkReads> walk;
};

/// The lists of fields that a layout may have, by its parameters and the matrix. All arrays are empty.
using FieldLists = std::vector<std::vector<LayoutField>>;
template <typename>
using ListFields = FieldLists (*)();

/// One kind of layout, as the catalogue lists it.
struct LayoutEntry {
    std::string name;
    std::string summary;
    std::string source;
    /// How one 6 x 6 matrix is stored in it where it is explained: each the end of a recipe, with stages and [layout]. Empty:
    /// as it is, with every parameter at its default.
    std::vector<std::string> examples = {};
    std::vector<ParameterDeclaration> parameters;

    /// What must be there before it. Throws ParameterError where the values do not go together.
    Needs (*needs)(const Parameters&) = nullptr;

    /// Which rows it stores of a share in a hybrid: all, where the numbers of rows say something (diagonals, blocks) or rows
    /// without nonzeros take no memory.
    RowsOfShare rows_of_share = RowsOfShare::present;

    /// Throws Unsuitable where the matrix does not fit the layout.
    ForEachPrecision<BuildLayout> build;

    /// What `build` makes with these parameters, with nothing in it yet: for a layout that was kept to be read into. A function
    /// that is null: it is never kept.
    ForEachPrecision<EmptyLayout> empty = {};

    /// For kernels that a recipe brings along. A function that is null: the layout has no list of fields.
    ForEachPrecision<ListFields> fields = {};

    std::vector<ScheduleEntry> schedules = {};  // of its CUDA kernels, the usual one first

    /// The size of a stored matrix after the literature. Null: `workbench storage` leaves it out.
    StorageSizes storage_sizes = nullptr;

    std::vector<KernelEntry> kernels;  // of a baseline layout, the first of a backend is the baseline

    /// The kernels of one more backend.
    void add(const std::vector<KernelEntry>& more) { kernels.insert(kernels.end(), more.begin(), more.end()); }
};

/// Walks a layout beside the matrix that it was built from and throws std::logic_error unless each nonzero is stored exactly
/// once, with its value and at its row and column, and padding is zero.
template <ValueType Value>
void check_layout(const Layout<Value>& layout, const CsrMatrix& matrix);

/// Walks a kernel's reads beside the slots of its layout and throws std::logic_error unless each slot that holds a nonzero is
/// read exactly once, by a lane that adds to its row and reads x in its column, no slot twice, and nothing by one lane of a
/// warp in one step twice.
template <ValueType Value>
void check_schedule(const Layout<Value>& layout, WalkReads<Value> walk);

}  // namespace workbench
