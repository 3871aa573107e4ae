#include "kernels/common/storage/fields.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace workbench {
template void transfer_member<HostArray<std::uint8_t>>(void*, Transfer&);
template void transfer_member<HostArray<std::uint16_t>>(void*, Transfer&);
template void transfer_member<HostArray<std::uint32_t>>(void*, Transfer&);
template void transfer_member<HostArray<Index>>(void*, Transfer&);
template void transfer_member<HostArray<Offset>>(void*, Transfer&);
template void transfer_member<HostArray<float>>(void*, Transfer&);
template void transfer_member<HostArray<double>>(void*, Transfer&);

std::vector<LayoutField> describe(std::span<const StoredMember> members) {
    std::vector<LayoutField> fields;
    std::size_t codes = 0;  // the last array of them
    for (const StoredMember& member : members) {
        LayoutField& field = fields.emplace_back();
        field.name = member.info->name;
        field.role = member.info->role;
        field.length = member.info->length;
        member.type->describe(member.address, field);
        std::optional<LayoutDictionary>& dictionary = fields[codes].dictionary;
        switch (member.info->part) {
            case CodingPart::codes: codes = fields.size() - 1; break;
            case CodingPart::dictionary: dictionary = {field.data, field.type, field.count}; break;
            case CodingPart::column_bits: dictionary->shift = *static_cast<const Index*>(field.data); break;
            case CodingPart::values_of_code:
                dictionary->values_of_code = static_cast<std::size_t>(*static_cast<const Index*>(field.data));
                break;
            case CodingPart::none: break;
        }
    }
    return fields;
}

void list_fields(std::span<const StoredMember> members, FieldLists& lists) {
    lists.push_back(describe(members));
    for (LayoutField& field : lists.back()) field.data = nullptr;
}

void transfer_members(Transfer& transfer, std::span<const StoredMember> members) {
    for (const StoredMember& member : members) member.type->transfer(const_cast<void*>(member.address), transfer);
}

std::string purpose_of(const std::string& layout, const FieldInfo& info) { return layout + " " + std::string(info.name); }

int number_of_address(std::span<const void* const> members, const void* array) {
    const auto found = std::find(members.begin(), members.end(), array);
    if (found == members.end()) {
        throw std::logic_error("a layout asks for the number of an array that it does not list");
    }
    return static_cast<int>(found - members.begin());
}

void copy_members(Device& device, std::span<const StoredMember> members, std::span<void* const> views, const std::string& of,
                  std::vector<DeviceMemory>& owners) {
    for (std::size_t i = 0; i < members.size(); ++i) {
        LayoutField field;
        field.role = members[i].info->role;
        members[i].type->describe(members[i].address, field);
        if (!field.has_memory()) continue;
        const std::span bytes(static_cast<const std::byte*>(field.data), field.bytes());
        owners.push_back(to_device(device, bytes, purpose_of(of, *members[i].info)));
        const void* const copy = owners.back().address();
        std::memcpy(views[i], &copy, sizeof(copy));  // the first member of each ArrayView
    }
}

}  // namespace workbench
