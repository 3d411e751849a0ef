#pragma once
#include <optional>
#include <string_view>

namespace cambium::relate {

/// Element symbol of an atomic number from 1 to 118; else none.
std::optional<std::string_view> element_of(int number);

/// True for the symbol of an element, with a capital letter.
bool is_element(std::string_view symbol);

}  // namespace cambium::relate
