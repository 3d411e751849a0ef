#include "plugins/md/writers/time_correlation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::md {

TimeCorrelation::TimeCorrelation(Kind kind, int length, int origins)
    : kind_(kind), length_(length), spacing_(std::max(1, length / origins)) {}

namespace {

/// Rows of an earlier sample where the cell `to` has them: the same fractional coordinates.
std::vector<double> moved(const std::vector<double>& rows, const TimeCorrelation::Cell& from,
                          const TimeCorrelation::Cell& to) {
  const auto& h = from.rows;
  std::array<std::array<double, 3>, 3> reciprocal{};  // of each vector: its product with r is the fraction along it
  double volume = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double *b = &h[(k + 1) % 3 * 3], *c = &h[(k + 2) % 3 * 3];
    for (std::size_t d = 0; d < 3; ++d)
      reciprocal[k][d] = b[(d + 1) % 3] * c[(d + 2) % 3] - b[(d + 2) % 3] * c[(d + 1) % 3];
    if (k == 0)
      for (std::size_t d = 0; d < 3; ++d) volume += h[d] * reciprocal[0][d];
  }
  std::vector<double> out(rows.size());
  for (std::size_t i = 0; i < rows.size(); i += 3) {
    for (std::size_t d = 0; d < 3; ++d) out[i + d] = to.origin[d];
    for (std::size_t k = 0; k < 3; ++k) {
      double fraction = 0.0;
      for (std::size_t d = 0; d < 3; ++d) fraction += (rows[i + d] - from.origin[d]) * reciprocal[k][d] / volume;
      for (std::size_t d = 0; d < 3; ++d) out[i + d] += fraction * to.rows[3 * k + d];
    }
  }
  return out;
}

}  // namespace

void TimeCorrelation::add(double time, std::vector<double> rows, const std::vector<int>& type, int species,
                          const std::optional<Cell>& cell) {
  if (members_.empty()) {
    members_.assign(species, 0.0);
    for (int t : type) members_[t] += 1.0;
    sum_.assign(static_cast<std::size_t>(length_ + 1) * species, 0.0);
    elapsed_.assign(length_ + 1, 0.0);
    count_.assign(length_ + 1, 0.0);
  }
  if (std::ssize(members_) != species || (!origins_.empty() && origins_.front().rows.size() != rows.size()))
    throw InputError(
        fmt::format("the correlation was sampled with {} species and {} atoms, but there are {} and {} now: resume "
                    "with the deck that wrote it",
                    members_.size(), origins_.empty() ? 0 : origins_.front().rows.size() / 3, species, type.size()));
  if (samples_ % spacing_ == 0) origins_.push_back({samples_, time, rows, cell});
  while (samples_ - origins_.front().sample > length_) origins_.pop_front();
  for (const Origin& origin : origins_) {
    const std::int64_t lag = samples_ - origin.sample;
    double* sum = &sum_[lag * species];
    const bool changed = cell && origin.cell && cell->rows != origin.cell->rows;
    const std::vector<double> before = changed ? moved(origin.rows, *origin.cell, *cell) : std::vector<double>();
    const double* earlier = changed ? before.data() : origin.rows.data();
    for (std::size_t i = 0; i < type.size(); ++i) {
      const double *a = earlier + 3 * i, *b = &rows[3 * i];
      const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
      sum[type[i]] += kind_ == Kind::displacement ? d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
                                                  : a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }
    elapsed_[lag] += time - origin.time;
    count_[lag] += 1.0;
  }
  ++samples_;
}

TimeCorrelation::Result TimeCorrelation::result() const {
  Result r;
  const std::size_t species = members_.size();
  r.value.resize(species + 1);
  double all = 0.0;
  for (double n : members_) all += n;
  for (std::size_t lag = 0; lag < count_.size(); ++lag) {
    if (count_[lag] == 0.0) continue;
    r.time.push_back(elapsed_[lag] / count_[lag]);
    r.origins.push_back(count_[lag]);
    double total = 0.0;
    for (std::size_t s = 0; s < species; ++s) {
      const double sum = sum_[lag * species + s];
      total += sum;
      r.value[s + 1].push_back(members_[s] > 0.0 ? sum / (members_[s] * count_[lag]) : 0.0);
    }
    r.value[0].push_back(total / (all * count_[lag]));
  }
  return r;
}

void TimeCorrelation::save(io::Group& group) const {
  group.write("length", length_);
  group.write("spacing", spacing_);
  group.write("samples", samples_);
  group.write("members", members_);
  group.write("sum", sum_);
  group.write("elapsed", elapsed_);
  group.write("count", count_);
  std::vector<std::int64_t> samples;
  std::vector<double> times;
  for (const Origin& origin : origins_) {
    samples.push_back(origin.sample);
    times.push_back(origin.time);
  }
  group.write("origin_sample", samples);
  group.write("origin_time", times);
  for (std::size_t k = 0; k < origins_.size(); ++k) {
    group.write(fmt::format("origin_rows/{}", k), origins_[k].rows);
    if (!origins_[k].cell) continue;
    std::vector<double> cell(origins_[k].cell->rows.begin(), origins_[k].cell->rows.end());
    cell.insert(cell.end(), origins_[k].cell->origin.begin(), origins_[k].cell->origin.end());
    group.write(fmt::format("origin_cells/{}", k), cell);
  }
}

void TimeCorrelation::load(const io::Group& group) {
  const int length = group.read<int>("length"), spacing = group.read<int>("spacing");
  if (length != length_ || spacing != spacing_)
    throw InputError(
        fmt::format("'{}' in '{}' was sampled with length {} and origins every {} samples, but this deck has {} and "
                    "{}: resume with the deck that wrote it",
                    group.path(), group.file(), length, spacing, length_, spacing_));
  samples_ = group.read<std::int64_t>("samples");
  members_ = group.read<std::vector<double>>("members");
  sum_ = group.read<std::vector<double>>("sum");
  elapsed_ = group.read<std::vector<double>>("elapsed");
  count_ = group.read<std::vector<double>>("count");
  const auto samples = group.read<std::vector<std::int64_t>>("origin_sample");
  const auto times = group.read<std::vector<double>>("origin_time");
  origins_.clear();
  bool cells = true;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    origins_.push_back(
        {samples[k], times.at(k), group.read<std::vector<double>>(fmt::format("origin_rows/{}", k)), std::nullopt});
    const std::string name = fmt::format("origin_cells/{}", k);
    if (!group.exists(name)) continue;
    const auto cell = group.read<std::vector<double>>(name);
    cells = cells && cell.size() == 12;
    if (!cells) break;
    Cell& to = origins_.back().cell.emplace();
    std::copy_n(cell.begin(), 9, to.rows.begin());
    std::copy_n(cell.begin() + 9, 3, to.origin.begin());
  }
  if (!cells || !sound())
    throw InputError(fmt::format(
        "'{}' in '{}' does not hold together: {} species, {} sums, {} lags and {} origins after {} samples; the file "
        "is damaged or was changed, resume from another one",
        group.path(), group.file(), members_.size(), sum_.size(), count_.size(), origins_.size(), samples_));
}

bool TimeCorrelation::sound() const {
  const std::size_t lags = static_cast<std::size_t>(length_) + 1;
  if (members_.empty()) return samples_ == 0 && sum_.empty() && elapsed_.empty() && count_.empty() && origins_.empty();
  if (samples_ < 1 || sum_.size() != lags * members_.size() || elapsed_.size() != lags || count_.size() != lags ||
      origins_.empty())
    return false;
  std::int64_t last = samples_ - static_cast<std::int64_t>(lags) - 1;
  for (const Origin& origin : origins_) {
    if (origin.sample <= last || origin.sample < 0 || origin.sample >= samples_ ||
        origin.rows.size() != origins_.front().rows.size())
      return false;
    last = origin.sample;
  }
  return true;
}

namespace {
void take_off_mean(const io::Frame& frame, std::vector<double>& rows) {
  double mean[3] = {0, 0, 0}, mass = 0.0;
  for (std::size_t i = 0; i < frame.type.size(); ++i) {
    const double m = frame.species[frame.type[i]].mass;
    mass += m;
    for (int k = 0; k < 3; ++k) mean[k] += m * rows[3 * i + k];
  }
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k] -= mean[k % 3] / mass;
}
}  // namespace

std::vector<double> unwrapped_positions(const io::Frame& frame, bool remove_drift) {
  std::vector<double> rows = frame.position;
  for (std::int64_t i = 0; i < frame.size(); ++i)
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 3; ++k) rows[3 * i + k] += frame.image[3 * i + r] * frame.cell[3 * r + k];
  if (remove_drift) take_off_mean(frame, rows);
  return rows;
}

TimeCorrelation::Cell cell_of(const io::Frame& frame, bool remove_drift) {
  TimeCorrelation::Cell cell{frame.cell, {}};  // from the centre of mass, which is taken off
  if (!remove_drift) cell.origin = frame.origin;
  return cell;
}

std::vector<double> velocities(const io::Frame& frame, bool remove_drift) {
  std::vector<double> rows = frame.velocity;
  if (remove_drift) take_off_mean(frame, rows);
  return rows;
}

}  // namespace cambium::md
