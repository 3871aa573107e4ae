#include "kernels/source/planted_faults.hpp"

#include <cstdint>
#include <limits>
#include <stdexcept>

namespace workbench {
namespace {

/// Changes one element of a constant array during its lifetime.
template <typename Element>
class Planted {
public:
    Planted(const LayoutField& array, std::size_t index, Element (*change)(Element))
        : place_(static_cast<Element*>(const_cast<void*>(array.data)) + index), original_(*place_) {
        *place_ = change(original_);
    }
    ~Planted() { *place_ = original_; }
    Planted(const Planted&) = delete;
    Planted& operator=(const Planted&) = delete;

    [[nodiscard]] bool changes_something() const { return *place_ != original_; }

private:
    Element* place_;
    Element original_;
};

template <typename Element>
Element one_more(Element element) {
    return static_cast<Element>(element + 1);
}

template <typename Element>
Element one_less(Element element) {
    return static_cast<Element>(element - 1);
}

template <typename Element>
Element far_away(Element) {
    return std::numeric_limits<Element>::max();
}

template <ValueType Value>
class FaultPlanter {
public:
    FaultPlanter(const Layout<Value>& layout, const CsrMatrix& matrix, const std::function<void(const std::string&)>& begin)
        : layout_(layout), matrix_(matrix), begin_(begin) {}

    void plant_in(const LayoutField& array, int number) {
        if (array.constant && array.dictionary) return;  // the codes and the dictionary belong to other fields
        const std::vector<std::size_t> everywhere = all_places(array);
        if (array.type == ElementType::f32) return plant<float>(array, everywhere, one_more, "+ 1");
        if (array.type == ElementType::f64) return plant<double>(array, everywhere, one_more, "+ 1");
        const bool of_slots = array.role != ArrayRole::structure;
        const std::vector<std::size_t> nearby = of_slots ? places_of_nonzeros(number) : everywhere;
        switch (bytes_of(array.type)) {
            case 1: return plant_integers<std::uint8_t>(array, everywhere, nearby);
            case 2: return plant_integers<std::uint16_t>(array, everywhere, nearby);
            case 4: return plant_integers<Index>(array, everywhere, nearby);
            default: return plant_integers<Offset>(array, everywhere, nearby);
        }
    }

    [[nodiscard]] std::vector<std::string> unnoticed() && { return std::move(unnoticed_); }

private:
    [[nodiscard]] bool is_noticed() const {
        try {
            check_layout(layout_, matrix_);
        } catch (const std::logic_error&) {
            return true;
        }
        return false;
    }

    template <typename Element>
    void plant(const LayoutField& array, const std::vector<std::size_t>& places, Element (*change)(Element), const char* name) {
        for (const std::size_t place : places) {
            const Planted<Element> fault(array, place, change);
            if (!fault.changes_something()) continue;
            const std::string text = array.name + " [" + std::to_string(place) + "] " + name;
            if (begin_) begin_(text);
            if (!is_noticed()) unnoticed_.push_back(text);
        }
    }

    template <typename Element>
    void plant_integers(const LayoutField& array, const std::vector<std::size_t>& everywhere,
                        const std::vector<std::size_t>& nearby) {
        plant<Element>(array, everywhere, far_away, "= the largest number");
        plant<Element>(array, nearby, one_more, "+ 1");
        plant<Element>(array, nearby, one_less, "- 1");
    }

    [[nodiscard]] static std::vector<std::size_t> all_places(const LayoutField& array) {
        std::vector<std::size_t> places(array.constant ? 1 : array.count);
        for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
        return places;
    }

    /// The elements of an array of columns or codes that belong to a nonzero.
    [[nodiscard]] std::vector<std::size_t> places_of_nonzeros(int array) const {
        std::vector<std::size_t> places;
        const std::vector<LayoutField> fields = layout_.fields();
        layout_.for_each_slot([&](const Slot& slot) {
            if (slot.nonzero < 0) return;
            if (slot.column_array == array) places.push_back(slot.column_index);
            if (slot.array != array) return;
            const auto& dictionary = fields[array].dictionary;
            places.push_back(slot.index / static_cast<Offset>(dictionary ? dictionary->values_of_code : 1));
        });
        return places;
    }

    const Layout<Value>& layout_;
    const CsrMatrix& matrix_;
    const std::function<void(const std::string&)>& begin_;
    std::vector<std::string> unnoticed_;
};

}  // namespace

template <ValueType Value>
std::vector<std::string> unnoticed_faults(const Layout<Value>& layout, const CsrMatrix& matrix,
                                          const std::function<void(const std::string&)>& begin) {
    FaultPlanter<Value> planter(layout, matrix, begin);
    const std::vector<LayoutField> fields = layout.fields();
    for (std::size_t number = 0; number < fields.size(); ++number) {
        if (fields[number].is_array()) planter.plant_in(fields[number], static_cast<int>(number));
    }
    return std::move(planter).unnoticed();
}

template std::vector<std::string> unnoticed_faults(const Layout<float>&, const CsrMatrix&,
                                                   const std::function<void(const std::string&)>&);
template std::vector<std::string> unnoticed_faults(const Layout<double>&, const CsrMatrix&,
                                                   const std::function<void(const std::string&)>&);

}  // namespace workbench
