#pragma once
#include <optional>
#include <string_view>

namespace cambium::relate {

/// The element of an atomic number from 1 to 118; none beyond.
std::optional<std::string_view> element_of(int number);

/// True if this is the symbol of an element, with a capital letter.
bool is_element(std::string_view symbol);

}  // namespace cambium::relate
