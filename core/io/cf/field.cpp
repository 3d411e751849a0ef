#include "core/io/cf/field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium::io::cf {

namespace {

/// Suggestions for a name: arrays of that name in a group, or one with a similar spelling.
std::string meant(const Container& file, const std::string& array) {
  for (const auto& group : file.groups())
    for (const auto& path : file.variables(group))
      if (path == group + "/" + array) return fmt::format("; did you mean '{}'?", path);
  return suggestion(array, file.variables(""));
}

}  // namespace

Field::Field(const std::string& path, const FieldNames& names) : names_(names), container_(open_container(path)) {
  variable_ = container_->variable(names.array);
  if (!variable_)
    throw InputError(fmt::format("'{}' has no array '{}'{}", path, names.array, meant(*container_, names.array)));
  decoding_.emplace(*variable_, path, names.decoding);
  file_shape_ = variable_->shape();
  dimensions_ = variable_->dimensions();
  unit_ = std::string(trim(variable_->text("units")));
  if (unit_ == "1") unit_.clear();
  collect_candidates();
}

Field Field::open(const std::string& path, const FieldNames& names) {
  Field out(path, names);
  out.find_time();
  out.find_axes();
  out.candidates_.clear();  // their handles, of hundreds of files
  return out;
}

Field Field::open_still(const std::string& path, const FieldNames& names) {
  Field out(path, names);
  out.still_ = true;
  for (std::size_t k = 0; k < out.file_shape_.size(); ++k)
    if (const auto* found = out.candidate_for(k); found && found->role == Role::time) {
      if (out.file_shape_[k] != 1)
        throw InputError(fmt::format("'{}' of '{}' has {} times, expected one; extract one of them (ncks -d)",
                                     names.array, path, out.file_shape_[k]));
      out.time_dimension_ = k;
    }
  out.find_axes();
  return out;
}

/// Variables of one dimension: the scales of the array, and those of its group and of the groups above.
void Field::collect_candidates() {
  auto add = [&](const std::string& path) {
    auto variable = container_->variable(path);
    if (!variable || !variable->type() || variable->path() == variable_->path()) return;
    const auto shape = variable->shape();
    for (const auto& c : candidates_)
      if (c.variable->path() == variable->path()) return;
    if (shape.size() != 1) return;
    const Role role = role_of(*variable);
    candidates_.push_back({std::move(variable), "", shape[0], role});
    candidates_.back().dimension = candidates_.back().variable->dimensions()[0];
  };
  for (const auto& name : dimensions_)
    if (!name.empty()) add(name);
  std::string group = variable_->path();
  do {
    const auto slash = group.rfind('/');
    group = slash == std::string::npos ? "" : group.substr(0, slash);
    for (const auto& path : container_->variables(group)) add(path);
  } while (!group.empty());
}

std::unique_ptr<Variable> Field::beside(const std::string& name) const {
  for (auto slash = names_.array.rfind('/'); slash != std::string::npos && slash > 0;
       slash = names_.array.rfind('/', slash - 1))
    if (auto found = container_->variable(names_.array.substr(0, slash + 1) + name)) return found;
  return container_->variable(name);
}

/// The best coordinate of a dimension: of latitude, longitude, time or height before others; the variable of the
/// dimension's own name before others.
const Field::Candidate* Field::candidate_for(std::size_t dimension) const {
  const auto& name = dimensions_[dimension];
  if (name.empty()) return unnamed_candidate(dimension);
  const std::string last = name.substr(name.rfind('/') + 1);
  const std::string listed = " " + variable_->text("coordinates") + " ";
  const Candidate* best = nullptr;
  int most = -1;
  for (const auto& c : candidates_) {
    if (c.dimension != name || c.length != file_shape_[dimension]) continue;
    const bool own = c.variable->name() == last,
               is_listed = listed.find(" " + c.variable->name() + " ") != std::string::npos;
    if (!own && !is_listed && c.role == Role::none) continue;
    const int worth = (c.role != Role::none ? 4 : 0) + (own ? 2 : 0) + (is_listed ? 1 : 0);
    if (worth > most) {
      most = worth;
      best = &c;
    }
  }
  // latitudes and longitudes along the same dimension: points, or cells of an unstructured grid
  auto along = [&](Role role) {
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [&](const Candidate& c) { return c.dimension == name && c.role == role; });
  };
  if (along(Role::latitude) && along(Role::longitude)) return nullptr;
  return best ? best : unnamed_candidate(dimension);
}

/// For dimensions or coordinates without names (HDF5 without scales): latitudes and longitudes of the right length for
/// the last two, preferably by name; heights for those before.
const Field::Candidate* Field::unnamed_candidate(std::size_t dimension) const {
  const std::size_t rank = file_shape_.size();
  auto fits = [&](std::size_t at, Role role) -> const Candidate* {
    const Candidate* found = nullptr;
    for (const auto& c : candidates_)
      if (c.role == role && c.length == file_shape_[at] && (c.dimension.empty() || dimensions_[at].empty()) &&
          (!found || c.variable->name().size() < found->variable->name().size()))
        found = &c;
    return found;
  };
  if (still_ && dimension + 3 == rank && file_shape_[dimension] == 1) return fits(dimension, Role::time);
  if (rank < 2 || dimension + 2 < rank) return dimension > 0 ? fits(dimension, Role::height) : nullptr;
  if (!still_ && rank == 2) return nullptr;  // (time, cell)
  const bool as_usual = fits(rank - 2, Role::latitude) || fits(rank - 1, Role::longitude);
  const bool turned = !as_usual && fits(rank - 2, Role::longitude) && fits(rank - 1, Role::latitude);
  return fits(dimension, (dimension + 2 == rank) != turned ? Role::latitude : Role::longitude);
}

std::unique_ptr<Variable> Field::time_variable() const {
  if (!names_.time.empty()) {
    if (auto found = beside(names_.time)) return found;
    throw InputError(fmt::format("'{}' has no array '{}' next to '{}': name the times of its snapshots (time: NAME)",
                                 path(), names_.time, names_.array));
  }
  for (std::size_t k = 0; k < dimensions_.size(); ++k)
    if (!dimensions_[k].empty())
      if (const auto* found = candidate_for(k); found && found->role == Role::time)
        return container_->variable(found->variable->path());
  if (auto found = beside("time")) return found;
  const Candidate* only = nullptr;
  for (const auto& c : candidates_)
    if (c.role == Role::time && c.dimension.empty() && !file_shape_.empty() && c.length == file_shape_[0])
      only = only ? nullptr : &c;
  if (only) return container_->variable(only->variable->path());
  throw InputError(
      fmt::format("'{}' has no array 'time' next to '{}', nor another coordinate of it that measures time: name the "
                  "times of its snapshots (time: NAME)",
                  path(), names_.array));
}

void Field::find_time() {
  const std::size_t rank = file_shape_.size();
  if (rank < 2)
    throw InputError(fmt::format("the array '{}' of '{}' has {} dimension(s), expected (time, ...) with at least two",
                                 names_.array, path(), rank));
  const auto variable = time_variable();
  if (!variable->type())
    throw InputError(
        fmt::format("the times '{}' of '{}' are text, expected numbers since a date; convert them (cdo copy)",
                    variable->path(), path()));
  const auto shape = variable->shape();
  if (shape.empty()) {  // a coordinate of one number: a snapshot in a file of its own
    const bool whole = dimensions_[0].empty() && file_shape_[0] == 1;
    if (whole) time_dimension_ = 0;
    return read_times(*variable);
  }
  time_dimension_ = 0;
  const auto along = shape.size() == 1 ? variable->dimensions()[0] : "";
  if (!along.empty() && !dimensions_[0].empty()) {
    const auto found = std::find(dimensions_.begin(), dimensions_.end(), along);
    if (found == dimensions_.end() && shape[0] == 1)
      return time_dimension_.reset(), read_times(*variable);  // its dimension of length 1 was taken out
    if (found != dimensions_.end()) time_dimension_ = static_cast<std::size_t>(found - dimensions_.begin());
  }
  std::int64_t n = 1;
  for (const auto extent : shape) n *= extent;
  if (n != file_shape_[*time_dimension_])
    throw InputError(fmt::format("'{}' has {} times in '{}' but {} snapshots in '{}'", path(), n, variable->path(),
                                 file_shape_[*time_dimension_], names_.array));
  read_times(*variable);
}

void Field::read_times(const Variable& variable) {
  const std::string where = fmt::format("the times '{}' of '{}'", variable.path(), path());
  times_ = decoded(variable, path());
  for (std::size_t k = 0; k < times_.size(); ++k)
    if (!std::isfinite(times_[k])) throw InputError(fmt::format("{} are missing or not finite at index {}", where, k));
  time_unit_ = time_unit_of(variable.text("units"), variable.text("calendar"), where, true);
  if (time_unit_.form != TimeUnit::Form::packed_date) return;
  if (*variable.type() == Stored::f32 && time_unit_.packed_months == 0)
    throw InputError(
        fmt::format("{} are dates such as 20010115 in 32-bit real numbers, which round them by a day; write "
                    "them in 64 bits",
                    where));
  const TimeUnit plain = plain_unit(time_unit_);
  times_ = converted(times_, time_unit_, plain, where);
  time_unit_ = plain;
}

/// Coordinates by the names of a deck: all other axes in their order, or those longer than 1.
void Field::name_axes() {
  std::vector<std::size_t> all, longer;
  for (std::size_t k = 0; k < file_shape_.size(); ++k)
    if (k != time_dimension_) {
      all.push_back(k);
      if (file_shape_[k] != 1) longer.push_back(k);
    }
  if (names_.axes.size() > all.size())
    throw InputError(fmt::format("{} coordinates are named for the axes of '{}' of '{}', which has {} beside time",
                                 names_.axes.size(), names_.array, path(), all.size()));
  const bool of_longer = names_.axes.size() == longer.size() && longer.size() < all.size();
  for (const std::size_t k : of_longer ? longer : all) {
    const std::size_t number = axes_.size();
    const std::string name = number < names_.axes.size() ? names_.axes[number] : "";
    const auto variable = name.empty() ? nullptr : beside(name);
    if (!variable || variable->shape() != std::vector<std::int64_t>{file_shape_[k]})
      throw InputError(fmt::format("'{}' has no coordinate '{}' of {} values for axis {} of '{}'", path(), name,
                                   file_shape_[k], k, names_.array));
    axes_.push_back(axis_of(*variable, path()));
    axis_dimensions_.push_back(k);
  }
}

void Field::find_axes() {
  if (!names_.axes.empty()) {
    name_axes();
  } else {
    for (std::size_t k = 0; k < file_shape_.size(); ++k) {
      if (k == time_dimension_) continue;
      axis_dimensions_.push_back(k);
      if (const auto* found = candidate_for(k)) {
        axes_.push_back(axis_of(*found->variable, path()));
        continue;
      }
      const auto& name = dimensions_[k];
      Axis plain{!name.empty()             ? name.substr(name.rfind('/') + 1)
                 : file_shape_.size() == 2 ? "cell"
                                           : fmt::format("axis{}", k),
                 "1",
                 "",
                 Role::none,
                 std::vector<double>(file_shape_[k]),
                 false};
      for (std::size_t i = 0; i < plain.values.size(); ++i) plain.values[i] = static_cast<double>(i);
      axes_.push_back(std::move(plain));
    }
  }
  drop_single();
  note_places();
}

void Field::drop_single() {
  for (std::size_t k = axes_.size(); k-- > 0;)
    if (axes_[k].values.size() == 1 && axes_.size() > 1) {
      axes_.erase(axes_.begin() + static_cast<std::ptrdiff_t>(k));
      axis_dimensions_.erase(axis_dimensions_.begin() + static_cast<std::ptrdiff_t>(k));
    }
}

std::vector<std::int64_t> Field::shape() const {
  std::vector<std::int64_t> out;
  if (!still_) out.push_back(std::ssize(times_));
  for (const auto& axis : axes_) out.push_back(std::ssize(axis.values));
  return out;
}

std::vector<std::int64_t> Field::chunk() const {
  const auto stored = variable_->chunk();
  std::vector<std::int64_t> out;
  if (stored.empty()) return out;
  if (!still_) out.push_back(time_dimension_ ? stored[*time_dimension_] : 1);
  for (const std::size_t dimension : axis_dimensions_) out.push_back(stored[dimension]);
  return out;
}

std::optional<std::size_t> Field::axis(Role role) const {
  for (std::size_t k = 0; k < axes_.size(); ++k)
    if (axes_[k].role == role) return k;
  return std::nullopt;
}

std::string Field::curved(Role role) const {
  const std::string words = variable_->text("coordinates");
  for (std::size_t at = 0; at < words.size();) {
    const auto begin = words.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    at = std::min(words.find(' ', begin), words.size());
    const auto variable = beside(words.substr(begin, at - begin));
    if (variable && variable->shape().size() > 1 && role_of(*variable) == role) return variable->name();
  }
  return "";
}

std::string Field::listed(Role role) const {
  const auto found = places_.find(role);
  return found == places_.end() ? "" : found->second;
}

void Field::note_places() {
  for (const std::size_t dimension : axis_dimensions_)
    for (const auto& c : candidates_)
      if (!c.dimension.empty() && c.dimension == dimensions_[dimension])
        places_.try_emplace(c.role, c.variable->name());
}

void Field::read(std::span<const std::int64_t> start, std::span<const std::int64_t> count, double* out) const {
  std::vector<std::int64_t> from(file_shape_.size(), 0), extent(file_shape_.size(), 1);
  const std::size_t first = still_ ? 0 : 1;
  if (!still_ && time_dimension_) {
    from[*time_dimension_] = start[0];
    extent[*time_dimension_] = count[0];
  }
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    from[axis_dimensions_[k]] = start[k + first];
    extent[axis_dimensions_[k]] = count[k + first];
  }
  std::int64_t total = 1, before = 1, behind = 1;
  for (std::size_t k = 0; k < extent.size(); ++k) {
    total *= extent[k];
    if (time_dimension_ && k < *time_dimension_) before *= extent[k];
    if (time_dimension_ && k > *time_dimension_) behind *= extent[k];
  }
  const auto n = static_cast<std::size_t>(total);
  if (n == 0) return;
  if (before == 1 && decoding_->stored() == Stored::f64) {  // read in place, without another copy
    variable_->read(from, extent, out);
    return decoding_->apply(out, n, out);
  }
  const std::unique_ptr<char[]> stored(new char[n * size_of(decoding_->stored())]);
  variable_->read(from, extent, stored.get());
  if (before == 1) return decoding_->apply(stored.get(), n, out);
  std::vector<double> values(n);
  decoding_->apply(stored.get(), n, values.data());
  const std::int64_t times = extent[*time_dimension_];
  for (std::int64_t a = 0; a < before; ++a)
    for (std::int64_t t = 0; t < times; ++t)
      std::copy_n(values.data() + (a * times + t) * behind, behind, out + (t * before + a) * behind);
}

void require_same_axes(const Field& field, const Field& other, const std::string& what) {
  const auto& mine = field.axes();
  const auto& theirs = other.axes();
  for (std::size_t k = 0; k < std::min(mine.size(), theirs.size()); ++k) {
    const auto &a = mine[k], &b = theirs[k];
    if (a.role != b.role && a.role != Role::none && b.role != Role::none)
      throw InputError(fmt::format(
          "{} has '{}' where '{}' has '{}': their axes are in another order; transpose one of them (ncpdq -a)", what,
          a.name, other.path(), b.name));
    if (!a.coordinate || !b.coordinate || a.values.size() != b.values.size()) continue;
    // a hundredth of a cell, plus rounding to 32 bits
    const double first = b.values.front(), last = b.values.back(), n = static_cast<double>(b.values.size());
    const double most = 0.01 * std::abs(last - first) / n + 1e-6 * std::max(std::abs(first), std::abs(last));
    for (std::size_t i = 0; i < a.values.size(); ++i)
      if (std::abs(a.values[i] - b.values[i]) > most)
        throw InputError(
            fmt::format("{} has {} {} at index {}, where '{}' has {}: they are on other grids, or in another "
                        "direction; interpolate one to the grid of the other (cdo remapbil, cdo invertlat)",
                        what, a.name, number_text(a.values[i]), i, other.path(), number_text(b.values[i])));
  }
}

}  // namespace cambium::io::cf
