#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cambium {

/// Exponents of length, time, mass, temperature and charge.
/// An amount of substance is a pure number here: mol = 6.02214076e23, so that "g/mol" is an atomic mass unit and
/// "kcal/mol" an energy per particle, which is how the field uses them.
struct Dimension {
  std::array<int, 5> exponent{};
  friend bool operator==(const Dimension&, const Dimension&) = default;
  bool none() const { return *this == Dimension{}; }
};

Dimension operator*(Dimension a, Dimension b);
Dimension operator/(Dimension a, Dimension b);
Dimension power(Dimension a, int n);

/// Kind of this quantity, for messages: "time", "pressure", "length^2/time", "number without unit".
std::string describe(Dimension dimension);

/// A unit of measurement: `factor` is its size in SI (m, s, kg, K, C).
struct Unit {
  Dimension dimension;
  double factor = 1.0;
};

Unit operator*(Unit a, Unit b);
Unit operator/(Unit a, Unit b);
Unit power(Unit a, int n);

/// Reads a product, quotient or power of known units: "eV/angstrom^3", "1/ps", "K", "J/(kg K)", "" (a pure number).
/// On failure returns none and, if `problem` is given, sets it to the reason ("there is no unit 'pss'; did you mean
/// 'ps'?").
std::optional<Unit> parse_unit(std::string_view text, std::string* problem = nullptr);

/// The same for units written in the code; throws InternalError.
Unit unit_of(std::string_view text);

/// One known name, without operators; none if there is no such unit.
std::optional<Unit> find_unit(std::string_view name);

/// Names of all known units, in the order of the table.
const std::vector<std::string>& unit_names();

/// The number by which a value in `from` is multiplied to be one in `to`. Equal spellings give exactly 1.
/// Throws InputError when the two measure different quantities.
double conversion(std::string_view from, std::string_view to);

/// Converts a value from `from` to `to`, correctly rounded if the two differ by a power of ten: 14 1/nm is 1.4
/// 1/angstrom.
double convert(double value, std::string_view from, std::string_view to);

}  // namespace cambium
