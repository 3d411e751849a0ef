#pragma once
#include <string_view>

namespace cambium {

/// Atomic number of an element's symbol ("Cu" is 29); 0 if there is no such element. Supported up to lawrencium.
int atomic_number(std::string_view symbol);

/// The symbol of an atomic number; empty if there is none.
std::string_view element_symbol(int number);

/// Standard atomic weight in g/mol (IUPAC 2021, conventional values where an interval is given; the mass number of the
/// longest-lived isotope for elements without one), 0 for an unknown symbol. "D" and "T" are the isotopes of hydrogen.
double standard_mass(std::string_view symbol);

}  // namespace cambium
