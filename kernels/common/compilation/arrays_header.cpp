#include "kernels/common/compilation/arrays_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace workbench {
namespace {

std::string type_name(ElementType type, Precision precision) {
    switch (type) {
        case ElementType::i8: return "signed char";
        case ElementType::u8: return "unsigned char";
        case ElementType::i16: return "short";
        case ElementType::u16: return "unsigned short";
        case ElementType::i32: return "Index";
        case ElementType::u32: return "unsigned";
        case ElementType::i64: return "Offset";
        case ElementType::u64: return "unsigned long long";
        case ElementType::f32: return precision == Precision::f32 ? "Value" : "float";
        case ElementType::f64: return precision == Precision::f64 ? "Value" : "double";
    }
    return {};
}

std::string in_words(ArrayRole role) {
    switch (role) {
        case ArrayRole::value: return "values";
        case ArrayRole::column: return "columns";
        case ArrayRole::structure: return "structure";
        case ArrayRole::number: return "number";
    }
    return {};
}

struct HeaderLine {
    std::string code;
    std::string comment;
};

std::string members(const std::vector<LayoutField>& fields, Precision precision) {
    std::vector<HeaderLine> lines;
    std::size_t width = 0;
    for (const LayoutField& field : fields) {
        const std::string type = type_name(field.type, precision);
        if (!field.has_memory()) {
            lines.push_back({fmt::format("{} {};", type, field.name), ""});
        } else {
            const std::string length = field.length.empty() ? "" : fmt::format(" [{}]", field.length);
            lines.push_back({fmt::format("const {}* {};", type, field.name), in_words(field.role) + length});
            lines.push_back({fmt::format("Offset {}_size;", field.name), ""});
            width = std::max(width, lines[lines.size() - 2].code.size());
        }
    }
    std::string text;
    for (const HeaderLine& line : lines) {
        text += line.comment.empty() ? fmt::format("    {}\n", line.code)
                                     : fmt::format("    {:{}}  // {}\n", line.code, width, line.comment);
    }
    return text;
}

template <typename Number>
void append(std::vector<std::byte>& bytes, const Number& number) {
    const std::size_t size = bytes.size();
    bytes.resize(size + sizeof(Number));
    std::memcpy(bytes.data() + size, &number, sizeof(Number));
}

void align(std::vector<std::byte>& bytes, std::size_t alignment) {
    while (bytes.size() % alignment != 0) bytes.push_back({});
}

constexpr const char* parameters = "const Value* x, Value* y, bool accumulate";

}  // namespace

std::string declaration_of_kernel(bool on_gpu) {
    return on_gpu ? fmt::format("extern \"C\" __global__ void {}(Arrays arrays, {})", kernel_function, parameters)
                  : fmt::format("extern \"C\" void {}(const Arrays& arrays, {})", kernel_function, parameters);
}

std::string arrays_header(const std::string& layout, const std::vector<LayoutField>& fields, Precision precision) {
    const PackedArrays packed = pack_arrays(fields);
    return fmt::format(
        R"(// The arrays that layout {0} passes to a kernel beside a recipe, in {1}. Generated from the layout's list of fields.
#ifndef WORKBENCH_ARRAYS
#define WORKBENCH_ARRAYS

using Value = {2};
using Index = int;
using Offset = long long;

struct Arrays {{
{3}    void* prepared;  // what `prepare` returned, or on a GPU filled, or null
}};
static_assert(sizeof(Arrays) == {4}, "the compiler's layout of this struct differs from the program's");

// Computes y = A x, or y += A x if accumulate is set. x: [columns], y: [rows], both in the layout's order. The kernel must write every
// row of y, including rows without nonzeros.
#ifdef __CUDACC__
{5};
// Optional: {7} is called once, before all products. It fills the memory at arrays.prepared, which contains zeros.
extern "C" __global__ void {7}(Arrays arrays);
#else
{6};
// Optional: {7} is called once, before all products, and {8} at the end.
extern "C" void* {7}(const Arrays& arrays);
extern "C" void {8}(void* prepared);
#endif

#endif
)",
        layout, name_of(precision), precision == Precision::f32 ? "float" : "double", members(fields, precision),
        packed.bytes.size(), declaration_of_kernel(true), declaration_of_kernel(false), prepare_function, release_function);
}

void PackedArrays::point(std::size_t i, const void* address) {
    std::memcpy(bytes.data() + pointers.at(i), &address, sizeof(address));
}

void PackedArrays::set_prepared(const void* address) { std::memcpy(bytes.data() + prepared, &address, sizeof(address)); }

PackedArrays pack_arrays(const std::vector<LayoutField>& fields) {
    PackedArrays packed;
    for (const LayoutField& field : fields) {
        const std::size_t size = field.has_memory() ? sizeof(void*) : bytes_of(field.type);
        align(packed.bytes, size);
        if (field.has_memory()) {
            packed.pointers.push_back(packed.bytes.size());
            append(packed.bytes, std::uintptr_t{0});
            append(packed.bytes, static_cast<std::int64_t>(field.count));
        } else {
            const std::size_t place = packed.bytes.size();
            packed.bytes.resize(place + size);
            if (field.data != nullptr) std::memcpy(packed.bytes.data() + place, field.data, size);
        }
    }
    align(packed.bytes, sizeof(void*));
    packed.prepared = packed.bytes.size();
    append(packed.bytes, std::uintptr_t{0});
    return packed;
}

}  // namespace workbench
