#include "plugins/deepmd/tasks/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/io/table_file.hpp"

namespace cambium::deepmd {

void Select::describe(deck::Describe<Select>& d) {
  d("f_trust_lo", &Select::low,
    "lower trust level: a configuration is accurate if no atom's force deviation exceeds this (DP-GEN f_trust_lo)")
      .formerly("low")
      .unit("eV/angstrom")
      .non_negative()
      .def(0.05);
  d("f_trust_hi", &Select::high,
    "upper trust level: a configuration is beyond trust if an atom's force deviation exceeds this (DP-GEN f_trust_hi)")
      .formerly("high")
      .unit("eV/angstrom")
      .positive()
      .def(0.5);
  d("max_selected", &Select::most,
    "maximum number of selected configurations, those of largest deviation first; 0 for all")
      .formerly("most")
      .at_least(0)
      .def(0);
  d("calibrated", &Select::calibrated,
    "selection by the calibrated bound of the force error instead of the deviation (explore_with.calibration)")
      .def(false);
  d.check([](const Select& s) { return s.low < s.high ? "" : "f_trust_lo must be less than f_trust_hi"; });
}

static std::vector<std::size_t> selected(const Select& s, const std::vector<double>& deviation) {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < deviation.size(); ++k)
    if (deviation[k] >= s.low && deviation[k] <= s.high) out.push_back(k);
  if (s.most > 0 && out.size() > static_cast<std::size_t>(s.most)) {
    std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return deviation[a] > deviation[b]; });
    out.resize(s.most);
    std::sort(out.begin(), out.end());
  }
  return out;
}

std::vector<std::size_t> choose(const Select& select, const std::vector<double>& deviation, Context& context) {
  const auto kept = selected(select, deviation);
  const auto known = std::count_if(deviation.begin(), deviation.end(), [&](double x) { return x < select.low; });
  const auto beyond = std::count_if(deviation.begin(), deviation.end(), [&](double x) { return !(x <= select.high); });
  const auto between = std::ssize(deviation) - known - beyond, left = between - std::ssize(kept);
  std::vector<double> sorted = deviation;
  std::sort(sorted.begin(), sorted.end());
  context.log.info(
      fmt::format("label: {} of an atom's force: {:.3g} eV/Å at least, {:.3g} in the middle, {:.3g} at most",
                  select.calibrated ? "largest bound of the error" : "largest deviation", sorted.front(),
                  sorted[sorted.size() / 2], sorted.back()));
  context.log.info(fmt::format("label: of {} configurations {} are known, {} beyond trust, {} are selected{}",
                               deviation.size(), known, beyond, kept.size(),
                               left > 0 ? fmt::format(" ({} more by select.max_selected)", left) : ""));
  io::TableFile table(context, "deviation",
                      {{"deviation", "eV/angstrom",
                        select.calibrated ? "largest calibrated bound of the error of an atom's force"
                                          : "largest deviation of an atom's force"},
                       {"kept", "", "1 where it was labelled"}});
  for (std::size_t k = 0; k < deviation.size(); ++k)
    table.append(static_cast<std::int64_t>(k),
                 std::array{deviation[k], std::binary_search(kept.begin(), kept.end(), k) ? 1.0 : 0.0});
  return kept;
}

}  // namespace cambium::deepmd
