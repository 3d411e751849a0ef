#pragma once
#include <memory>
#include <string>

#include "core/plugin/result.hpp"
#include "plugins/assimilate/twin/filter_run.hpp"

namespace cambium::assimilate {

/// Averages of a filter after the burn-in: NAME_rmse_a, NAME_rmse_f, spreads, spread over error, innovations, and the
/// relative error of each field.
std::vector<Result> results_of(const FilterRun& filter, const Setting& setting);
/// The same as a table, one line per filter; marks a filter whose error exceeds `climate` as having lost the truth.
std::vector<std::string> table_of(const std::vector<std::unique_ptr<FilterRun>>& filters, const Setting& setting,
                                  double climate);
/// Series and rank histogram of every filter (/FILTER), and the last instant as fields by (x, z): /truth,
/// /FILTER/analysis and the observations (/observations). Rank 0.
void write_report(const std::string& path, const Setting& setting, const Instant& last,
                  const std::vector<std::unique_ptr<FilterRun>>& filters, const Context& context);

}  // namespace cambium::assimilate
