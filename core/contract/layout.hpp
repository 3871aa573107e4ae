// The contract of a layout: where the nonzeros are stored, slot by slot.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/contract/device_plan.hpp"
#include "core/contract/kernel.hpp"
#include "core/contract/parameters.hpp"
#include "core/contract/pipeline_facts.hpp"
#include "core/contract/precision.hpp"
#include "core/contract/transfer.hpp"
#include "core/contract/value_facts.hpp"
#include "core/matrix/share_matrix.hpp"

namespace workbench {

/// The content of a field.
enum class ArrayRole {
    value,      // matrix values, one a slot
    column,     // columns, possibly relative to a base
    structure,  // everything else: offsets, row lists, boundaries
    number,     // no array: a single number
};

[[nodiscard]] std::string_view name_of(ArrayRole role);

enum class ElementType { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

[[nodiscard]] std::size_t bytes_of(ElementType type);
[[nodiscard]] std::string_view name_of(ElementType type);

template <typename Element>
[[nodiscard]] constexpr ElementType element_type() {
    if constexpr (std::is_enum_v<Element>) {
        return element_type<std::underlying_type_t<Element>>();
    } else if constexpr (std::is_floating_point_v<Element>) {
        return sizeof(Element) == 4 ? ElementType::f32 : ElementType::f64;
    } else {
        constexpr bool is_signed = std::is_signed_v<Element>;
        switch (sizeof(Element)) {
            case 1: return is_signed ? ElementType::i8 : ElementType::u8;
            case 2: return is_signed ? ElementType::i16 : ElementType::u16;
            case 4: return is_signed ? ElementType::i32 : ElementType::u32;
            default: return is_signed ? ElementType::i64 : ElementType::u64;
        }
    }
}

/// The dictionary of an array of codes. A code represents `values_of_code` values, those of a block, which are the slots of one
/// element: value j is dictionary[(code >> shift) * values_of_code + j].
/// Codes without memory of their own (LayoutField::constant) are also at `data`: the columns of the slots (i32), or the row
/// offsets (i64) that define their rows.
struct LayoutDictionary {
    const void* data = nullptr;
    ElementType type = ElementType::f64;
    std::size_t count = 0;
    int shift = 0;  // the lower bits of a code are the column
    std::size_t values_of_code = 1;
};

/// An array of a layout in host memory, or a single number.
struct LayoutField {
    std::string name;
    ArrayRole role = ArrayRole::structure;
    ElementType type = ElementType::i32;
    std::string length = {};  // of an array, in words: "rows + 1"; empty: unknown
    const void* data = nullptr;
    std::size_t count = 1;
    bool constant = false;  // takes no memory: all elements equal the one at `data`, or have the codes of a dictionary
    std::optional<LayoutDictionary> dictionary = {};  // of a value array whose elements are codes

    [[nodiscard]] bool is_array() const { return role != ArrayRole::number; }
    /// The slots of a value array.
    [[nodiscard]] std::size_t slots() const { return dictionary ? count * dictionary->values_of_code : count; }
    [[nodiscard]] bool has_memory() const { return is_array() && !constant; }
    [[nodiscard]] std::size_t bytes() const { return constant ? 0 : count * bytes_of(type); }
};

/// The value of slot `index` of a value array, decoded. f32 and f64 alone: arrays of codes without a dictionary have no values.
/// Throws std::logic_error if there is no such slot, or if its code is not in the dictionary.
[[nodiscard]] double value_at(const LayoutField& field, Offset index);

/// The place of a slot's value in the dictionary; none if there is no dictionary, or no code.
[[nodiscard]] std::optional<std::uint64_t> code_at(const LayoutField& field, Offset index);

template <typename Element>
[[nodiscard]] LayoutField array_field(std::string name, ArrayRole role, const HostArray<Element>& array,
                                      std::string length = {}) {
    return {.name = std::move(name),
            .role = role,
            .type = element_type<Element>(),
            .length = std::move(length),
            .data = array.data(),
            .count = array.size()};
}

/// One place for a nonzero: element `index` of value array number `array`. Its column is element `column_index` of a column
/// array, which the slots of a block may share, or is computed.
struct Slot {
    int array = 0;            // the value array: an index into Layout::fields()
    int column_array = 0;     // the array of its column; -1: the column is computed
    Offset index = 0;         // the element of the value array; with codes of blocks, element * values_of_code + value
    Offset column_index = 0;  // the element of the column array, if there is one
    Offset nonzero = -1;      // position in CsrMatrix::values of its matrix; -1: padding
    Index column = 0;         // of x in the current order; -1: padding that reads no x
    Index row = 0;            // of y in the current order; -1: padding that adds to no row

    friend bool operator==(const Slot&, const Slot&) = default;
};

/// A slot that a thread of a GPU kernel reads.
struct Read {
    std::int64_t warp = 0;  // 32 threads
    int lane = 0;
    std::int64_t step = 0;  // iteration of the warp
    int array = 0;          // the slot: an element of a value array, an index into Layout::fields()
    Offset index = 0;
    Index row = 0;     // of y
    Index column = 0;  // of x; -1: none

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

    /// The arrays and numbers that kernels read, in a fixed order. The bytes of the arrays are the footprint.
    [[nodiscard]] virtual std::vector<LayoutField> fields() const = 0;
    [[nodiscard]] std::int64_t array_bytes() const {
        std::int64_t bytes = 0;
        for (const LayoutField& field : fields()) bytes += field.is_array() ? static_cast<std::int64_t>(field.bytes()) : 0;
        return bytes;
    }

    /// Notes on how this matrix was stored: "slices with columns of 32 bits", "3 of 17".
    [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> notes() const { return {}; }

    /// Passes everything that it holds, including data that no kernel reads. Called only if the layout's entry has `empty`.
    virtual void transfer(Transfer&) { throw std::logic_error("a layout that cannot be kept"); }

    /// Visits the slots in the order of memory of each value array. A slot of nonzeros (i, j) and (j, i) is visited twice in a
    /// row.
    virtual void for_each_slot(const std::function<void(const Slot&)>& visit) const = 0;

    /// The rows without nonzeros, ascending, if kernels multiply padding in such rows: 0 times an infinity or a NaN of x is a
    /// NaN, so that on the host y of these rows is set anew after a product (kernels/common/entry/format.cpp).
    [[nodiscard]] virtual std::vector<Index> rows_of_padding() const { return {}; }

    /// The least bytes that y = A x moves: the arrays, x and y once each.
    [[nodiscard]] std::int64_t bytes_to_move() const {
        return array_bytes() + static_cast<std::int64_t>(sizeof(Value)) * (std::int64_t{rows()} + columns());
    }
};

template <typename Value>
using BuildLayout = std::unique_ptr<Layout<Value>> (*)(const StagedMatrix&, const Parameters&);

template <typename Value>
using EmptyLayout = std::unique_ptr<Layout<Value>> (*)(const Parameters&);

template <typename Value>
using WalkReads = void (*)(const Layout<Value>&, const std::function<void(const Read&)>&);

template <typename Value>
using CompileVectors = void (*)(const Layout<Value>&, int vectors, const std::string& architecture);

/// The reads of a GPU kernel, by the functions that the kernel itself calls; on any machine.
struct ScheduleEntry {
    std::string kernel;
    /// Visits every read, in the order of a thread's steps.
    ForEachPrecision<WalkReads> walk;
    /// Compiles the kernel for several vectors, for an architecture ("sm_90"), on a machine with or without a GPU. Null: the
    /// kernel multiplies one vector (KernelEntry::prepare_vectors).
    ForEachPrecision<CompileVectors> compile_vectors = {};
};

/// The lists of fields that a layout can have, depending on its parameters and the matrix. All arrays are empty.
using FieldLists = std::vector<std::vector<LayoutField>>;
template <typename>
using ListFields = FieldLists (*)();

class PatternForecast;  // forecast.hpp
struct LayoutCost;

/// Predicts what a product with the layout will cost, from the pattern and the parameters, without building the layout.
using PredictCost = LayoutCost (*)(const PatternForecast&, const Parameters&, Precision);

/// True if the layout may store values by codes, so that it is verified with integers of which equal values have equal ones.
[[nodiscard]] bool codes_values(const Parameters& parameters);

/// Bytes per element.
struct ElementSizes {
    std::int64_t value = 8;   // |f|
    std::int64_t index = 4;   // |int|
    std::int64_t offset = 4;  // |int| for offsets of nonzeros, slots or blocks
};

/// The size of the matrix in one format.
struct StorageSize {
    std::string format;                // "SELL by length"
    std::string source;                // "eq. 4.5"; sizes are sorted by it
    Index height = 0;                  // rows of a slice or block; 0: the format has none
    std::optional<double> alpha = {};  // of Staircase SELL
    Offset slots = 0;                  // including padding
    std::int64_t bytes = 0;
};

/// The input of a size computation.
struct StorageQuestion {
    const CsrMatrix& matrix;
    std::span<const Offset> lengths;            // [rows] nonzeros of each row
    std::span<const Offset> ascending_lengths;  // [rows] the same, sorted
    Index slice_height = 0;                     // for layouts that have this parameter
    std::span<const double> alphas;
    ElementSizes sizes;
};

using StorageSizes = std::vector<StorageSize> (*)(const StorageQuestion&);

/// One kind of layout, as the catalogue lists it.
struct LayoutEntry {
    std::string name = {};
    std::string summary;
    std::string source;
    /// Ends of recipes, with stages and [layout], by which `explain` stores a 6 x 6 matrix. Empty: the layout with default
    /// parameters.
    std::vector<std::string> examples = {};
    std::vector<ParameterDeclaration> parameters = {};

    /// The stages that must precede it. Throws ParameterError for values that contradict each other.
    Needs (*needs)(const Parameters&) = nullptr;

    /// The rows that it stores of a share in a hybrid: all if their numbers matter (diagonals, blocks) or rows without nonzeros
    /// take no memory.
    RowsOfShare rows_of_share = RowsOfShare::present;

    /// Throws Unsuitable if the matrix does not fit the layout.
    ForEachPrecision<BuildLayout> build = {};

    /// Replaces parameters that depend on the values of the matrix (values = "auto") by what they mean for this one. To be
    /// called before `build`, which then stores other values of the same matrix in the same way. Null: there are none.
    Parameters (*settle)(const Parameters&, const ValueFacts&) = nullptr;

    /// Makes the empty layout of these parameters, into which a kept one is read. Null: the layout cannot be kept.
    ForEachPrecision<EmptyLayout> empty = {};

    /// For kernels beside a recipe. Null: the layout does not support them.
    ForEachPrecision<ListFields> fields = {};

    std::vector<ScheduleEntry> schedules = {};  // of its CUDA kernels, in their order

    /// The size of a matrix according to the literature. Null: `workbench storage` does not list the layout.
    StorageSizes storage_sizes = nullptr;

    /// The cost before the layout is built, by which `choose` orders recipes. Null: unknown, taken for that of CSR.
    PredictCost predict = nullptr;

    /// The storage that a device can make in its own memory, like that of `build`, for its kernel kernel_on_device.
    /// Returns nothing if the host does it with these parameters. Null: the host always does it.
    std::optional<DeviceStorage> (*on_device)(const Parameters&) = nullptr;
    std::string kernel_on_device = {};

    std::vector<KernelEntry> kernels = {};  // of a baseline layout, the first of a backend is the baseline

    /// A format beside the recipe (format_from_file) names its file here, and a checksum of everything that it was compiled
    /// from. Both are empty for the formats of the program.
    std::filesystem::path file = {};
    std::string file_checksum = {};
    /// Builds such a format and runs its kernels in a process of its own, and throws BrokenKernel if one of them fails. To be
    /// called before `build`. Empty for the formats of the program.
    std::function<void(const StagedMatrix&, const Parameters&, Precision)> try_out = {};

    /// Builds the layout for a device (Parameters::on_device).
    template <ValueType Value>
    [[nodiscard]] std::unique_ptr<Layout<Value>> build_for(const StagedMatrix& staged, const Parameters& given,
                                                           const DeviceProperties& device = tuned_device_model()) const {
        const Parameters of_device =
            settled(given.on_device(parameters, device), staged.matrix, precision_of<Value>, staged.node_size);
        if (try_out) try_out(staged, of_device, precision_of<Value>);
        return build.template get<Value>()(staged, of_device);
    }

    /// Calls `settle` with the facts on this matrix, whose nodes have node_size unknowns each.
    [[nodiscard]] Parameters settled(const Parameters& given, const CsrMatrix& matrix, Precision precision,
                                     Index node_size) const;

    void add(const std::vector<KernelEntry>& more) { kernels.insert(kernels.end(), more.begin(), more.end()); }
};

/// Compares a layout with its matrix. Throws std::logic_error unless each nonzero is stored exactly once, with its value, row
/// and column, and padding is zero.
template <ValueType Value>
void check_layout(const Layout<Value>& layout, const CsrMatrix& matrix);

/// Compares a kernel's reads with the slots of its layout. Throws std::logic_error unless each slot with a nonzero is read
/// exactly once, for its row and column, no slot is read twice, and a lane reads at most one slot in a step.
template <ValueType Value>
void check_schedule(const Layout<Value>& layout, WalkReads<Value> walk);

}  // namespace workbench
