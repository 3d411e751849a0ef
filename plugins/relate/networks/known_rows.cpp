#include "plugins/relate/networks/known_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cambium::relate {

void TrainingCategories::add(const RecordSet& records, std::int64_t record) {
  if (!first_) first_ = &records;
  if (!records.categories || first_->given_rows) return;
  const auto& categories = *records.categories;
  auto& counts = counts_[&records];
  if (counts.empty())
    for (const auto& values : categories.values) counts.emplace_back(values.size(), 0);
  for (std::size_t c = 0; c < counts.size(); ++c) ++counts[c][categories.value_of(record, c)];
}

std::vector<RowColumn> TrainingCategories::columns() const {
  if (!first_) return {};
  std::vector<RowColumn> out = first_->columns;
  if (!counts_.contains(first_)) return out;
  for (std::size_t c = 0; c < out.size(); ++c) {
    if (counts_.size() == 1) {
      out[c] =
          column_of(out[c].name, frequent(first_->categories->values[c], counts_.at(first_)[c], first_->min_count));
      continue;
    }
    std::map<std::string, std::int64_t> together;
    for (const auto& [records, counts] : counts_)
      for (std::size_t v = 0; c < counts.size() && v < counts[c].size(); ++v)
        together[records->categories->values[c][v]] += counts[c][v];
    std::vector<std::string> values;
    std::vector<std::int64_t> counts;
    for (const auto& [value, count] : together) {
      values.push_back(value);
      counts.push_back(count);
    }
    out[c] = column_of(out[c].name, frequent(values, counts, first_->min_count));
  }
  return out;
}

std::string TrainingCategories::text() const {
  const auto columns = this->columns();
  bool same = true;
  std::int64_t rows = 0, cells = 0, rare = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    same = same && columns[c].meaning == first_->columns[c].meaning;
    rows += columns[c].rows - 1;
  }
  if (same) return "";
  for (const auto& [records, counts] : counts_)
    for (std::size_t c = 0; c < std::min(columns.size(), counts.size()); ++c) {
      const auto of = rows_of(records->categories->values[c], *columns[c].vocabulary);
      for (std::size_t v = 0; v < counts[c].size(); ++v) {
        cells += counts[c][v];
        if (of[v] == 0) rare += counts[c][v];
      }
    }
  return fmt::format(
      "  vocabulary of the training part: {} values in {} columns occur at least {} times; the rarer "
      "ones, {:.1f} % of its cells, have row 0",
      rows, columns.size(), first_->min_count,
      100.0 * static_cast<double>(rare) / static_cast<double>(std::max<std::int64_t>(1, cells)));
}

const std::vector<std::int32_t>* KnownRows::of(const train::Sample& sample, const RecordSet& records,
                                               const std::vector<RowColumn>& known, Log& log) const {
  const std::lock_guard lock(mutex_);
  const auto same = [&](const Entry& entry) {
    return !entry.records.owner_before(sample.storage) && !sample.storage.owner_before(entry.records);
  };
  auto found = std::find_if(entries_.begin(), entries_.end(), same);
  if (found == entries_.end()) {
    std::erase_if(entries_, [](const Entry& entry) { return entry.records.expired(); });
    Entry entry{sample.storage, nullptr};
    if (needs_rows_by(known, records)) {
      entry.rows = std::make_unique<const std::vector<std::int32_t>>(rows_by(known, records));
      log.info("  " + text_of_unknown(known, records, *entry.rows));
    }
    entries_.push_back(std::move(entry));
    found = entries_.end() - 1;
  }
  return found->rows.get();
}

void KnownRows::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

}  // namespace cambium::relate
