#include "plugins/superres/equations/field_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/superres/equations/field_file.hpp"
#include "plugins/superres/equations/mask.hpp"

namespace cambium::superres {
namespace {

void require_increasing(const std::vector<double>& values, const std::string& name, const std::string& file) {
  for (std::size_t k = 1; k < values.size(); ++k)
    if (!(values[k] > values[k - 1]))
      throw InputError(fmt::format("coordinate '{}' of '{}' does not increase after its entry {} ({})", name, file, k - 1, values[k - 1]));
}

void require_finite(const FieldData& data, std::size_t field) {
  const auto& v = data.values[field];
  std::size_t index = 0;
  while (index < v.size() && (std::isfinite(v[index]) || (!data.hidden.empty() && data.hidden[index]))) ++index;
  if (index == v.size()) return;
  throw InputError(fmt::format("field '{}' of '{}' is not finite at t = {:g}, x = {:g}, z = {:g}; leave that frame out or mask it",
                               data.names[field], data.file, data.axis[0][index / (data.nx() * data.nz())],
                               data.axis[1][index / data.nz() % data.nx()], data.axis[2][index % data.nz()]));
}

}  // namespace

FieldData read_fields(const std::string& path, const std::vector<std::string>& names, std::size_t frames, bool periodic) {
  const FieldFile file(path);
  FieldData data;
  data.file = path;
  data.names = names;
  data.axis = {file.coordinate(0), file.coordinate(1), file.coordinate(2)};
  for (int a = 0; a < 3; ++a) require_increasing(data.axis[a], file.name_of_axis(a), path);
  const auto all = static_cast<std::int64_t>(data.axis[0].size());
  const std::int64_t kept = std::min<std::int64_t>(all, static_cast<std::int64_t>(frames)), first = all - kept;
  const std::array<std::int64_t, 3> whole{all, static_cast<std::int64_t>(data.nx()), static_cast<std::int64_t>(data.nz())};
  data.axis[0].erase(data.axis[0].begin(), data.axis[0].begin() + first);
  for (const auto& name : names) data.values.push_back(file.read(name, whole, first));
  data.hidden = file.hidden(whole, first);
  for (std::size_t k = 0; k < names.size(); ++k) require_finite(data, k);
  const auto& x = data.axis[1];
  if (periodic && x.size() > 1) data.period = (x.back() - x.front()) * static_cast<double>(x.size()) / static_cast<double>(x.size() - 1);
  fill_hidden(data);
  return data;
}

}  // namespace cambium::superres
