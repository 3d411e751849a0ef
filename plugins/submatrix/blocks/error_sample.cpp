#include "plugins/submatrix/blocks/error_sample.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel/random.hpp"

namespace cambium::submatrix {

/// For the draws; no other stream has this number.
static constexpr auto draws = static_cast<Stream>(35);
/// Drawn from each stratum: four give a variance with three degrees of freedom.
static constexpr std::size_t drawn_of_stratum = 4;

double student_quantile(double degrees_of_freedom) {
  static constexpr double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                     2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                     2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  const double whole = std::floor(std::max(1.0, degrees_of_freedom) + 1e-9);
  if (whole <= 30.0) return table[static_cast<std::size_t>(whole) - 1];
  return 1.960 + 2.46 / whole;
}

namespace {

/// Ends of the strata, as indices of units by ascending score.
std::vector<std::size_t> ends_of_strata(const std::vector<StratifiedSample::Unit>& units, std::size_t strata) {
  double all = 0.0;
  for (const auto& unit : units) all += unit.score;
  const auto weight = [&](double score) {
    return 0.5 / static_cast<double>(units.size()) +
           (all > 0.0 ? 0.5 * score / all : 0.5 / static_cast<double>(units.size()));
  };
  std::vector<std::size_t> ends;
  double sum = 0.0;
  std::size_t at = 0;
  for (std::size_t s = 1; s < strata; ++s) {
    const std::size_t least = (ends.empty() ? 0 : ends.back()) + drawn_of_stratum,
                      most = units.size() - (strata - s) * drawn_of_stratum;
    while (at < units.size() && sum < static_cast<double>(s) / static_cast<double>(strata))
      sum += weight(units[at++].score);
    ends.push_back(std::clamp(at, least, most));
  }
  ends.push_back(units.size());
  return ends;
}

}  // namespace

StratifiedSample::StratifiedSample(std::vector<Unit> all, int size, std::uint64_t seed) : population_(all.size()) {
  // Scores are rounded, so that what sums in another order leave in their last digits does not change the draw.
  for (auto& unit : all) unit.score = static_cast<double>(static_cast<float>(unit.score));
  std::sort(all.begin(), all.end(),
            [](const Unit& a, const Unit& b) { return a.score != b.score ? a.score < b.score : a.id < b.id; });
  std::size_t wanted = std::min(static_cast<std::size_t>(std::max(size, 0)), all.size());
  if (all.size() <= 2 * wanted) wanted = all.size();  // no use in guessing the other half
  if (wanted == 0) return;
  const std::size_t strata = wanted == all.size() ? 1 : std::max<std::size_t>(1, wanted / drawn_of_stratum);
  std::vector<std::vector<int>> ids;
  const auto ends = ends_of_strata(all, strata);
  std::size_t begin = 0, left = wanted - std::min(wanted, strata * drawn_of_stratum);  // beyond those of each stratum
  for (std::size_t s = 0; s < strata; ++s) {
    std::vector<std::pair<double, int>> lot;
    for (std::size_t k = begin; k < ends[s]; ++k)
      lot.emplace_back(Random4(seed, draws, static_cast<std::uint64_t>(all[k].id), 0).uniform(0), all[k].id);
    std::sort(lot.begin(), lot.end());
    const std::size_t least = std::min(std::min(drawn_of_stratum, wanted), lot.size()),
                      more = std::min(left, lot.size() - least), take = least + more;
    left -= more;
    ids.emplace_back();
    for (std::size_t k = 0; k < take; ++k) {
      ids.back().push_back(lot[k].second);
      drawn_.push_back(lot[k].second);
    }
    strata_.push_back({ends[s] - begin, {}});
    begin = ends[s];
  }
  std::sort(drawn_.begin(), drawn_.end());
  for (std::size_t s = 0; s < strata; ++s)
    for (int id : ids[s])
      strata_[s].drawn.push_back(
          static_cast<std::size_t>(std::lower_bound(drawn_.begin(), drawn_.end(), id) - drawn_.begin()));
}

bool StratifiedSample::has(int id) const { return std::binary_search(drawn_.begin(), drawn_.end(), id); }

StratifiedSample::Interval StratifiedSample::sum(std::span<const double> value) const {
  Interval out;
  double variance = 0.0, satterthwaite = 0.0;
  for (const auto& stratum : strata_) {
    const auto n = static_cast<double>(stratum.drawn.size()), all = static_cast<double>(stratum.units);
    if (n == 0.0) continue;
    double mean = 0.0, squares = 0.0;
    for (std::size_t k : stratum.drawn) mean += value[k] / n;
    for (std::size_t k : stratum.drawn) squares += (value[k] - mean) * (value[k] - mean);
    out.total += all * mean;
    // A single value has no variance: its deviation is then taken to be as large as the value. Drawn units are known,
    // only the others are estimated. Tails are heavy: the last degree of freedom is not used.
    const double spread = n > 1.0 ? squares / (n - 1.0) : mean * mean, own = all * (all - n) * spread / n;
    variance += own;
    satterthwaite += own * own / std::max(1.0, n - 1.0);
  }
  if (variance > 0.0)
    out.half_width = student_quantile(variance * variance / satterthwaite - 1.0) * std::sqrt(variance);
  if (!value.empty() && !complete()) {
    const auto [low, high] = std::minmax_element(value.begin(), value.end());
    out.alike = value.size() > 1 && *high - *low <= 1e-6 * std::max(std::abs(*low), std::abs(*high));
  }
  return out;
}

}  // namespace cambium::submatrix
