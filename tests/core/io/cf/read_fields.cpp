// Reads fields as a plugin would and prints what they hold, one line of JSON for each line of input:
// FILE<tab>ARRAY<tab>TIME<tab>AXIS,AXIS (the last two may be empty). Times are days since 2000-01-01 of the file's
// calendar.
#include <fmt/format.h>
#include <mpi.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/error.hpp"
#include "core/io/cf/field.hpp"
#include "core/parallel/start_mpi.hpp"

using namespace cambium;
using namespace cambium::io::cf;

namespace {

std::vector<std::string> parts(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) out.push_back(part);
  return out;
}

nlohmann::json described(const Field& field) {
  nlohmann::json out;
  const auto shape = field.shape();
  std::size_t n = 1;
  for (const auto extent : shape) n *= static_cast<std::size_t>(extent);
  std::vector<double> values(n);
  field.read(std::vector<std::int64_t>(shape.size(), 0), shape, values.data());
  for (const double x : values) out["values"].push_back(std::isnan(x) ? nlohmann::json() : nlohmann::json(x));
  out["shape"] = shape;
  out["unit"] = field.unit();
  for (const auto& axis : field.axes()) {
    constexpr const char* roles[] = {"none", "time", "latitude", "longitude", "height"};
    out["axes"].push_back({{"name", axis.name},
                           {"unit", axis.unit},
                           {"role", roles[static_cast<int>(axis.role)]},
                           {"values", axis.values}});
  }
  const auto& unit = field.time_unit();
  out["times"] = field.times();
  out["calendar"] = name_of(unit.calendar);
  out["time_unit"] = unit.text;
  if (unit.has_date())
    out["times"] = converted(field.times(), unit,
                             time_unit_of("days since 2000-01-01", std::string(name_of(unit.calendar)), ""), "");
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  start_mpi(&argc, &argv);
  for (std::string line; std::getline(std::cin, line);) {
    auto words = parts(line, '\t');
    words.resize(4);
    try {
      std::cout << described(Field::open(words[0], {words[1], words[2], parts(words[3], ','), {}})).dump() << "\n";
    } catch (const InputError& error) {
      std::cout << nlohmann::json{{"error", error.what()}}.dump() << "\n";
    }
  }
  MPI_Finalize();
}
