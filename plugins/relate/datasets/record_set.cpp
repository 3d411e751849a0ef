#include "plugins/relate/datasets/record_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/relate/datasets/choice_table.hpp"
#include "plugins/relate/datasets/pair_table.hpp"

namespace cambium::relate {

namespace {

/// Identifies the type of a sample's storage.
struct RecordOwner {
  void operator()(const RecordSet* records) const { delete records; }
};

}  // namespace

RecordPtr share(RecordSet records) { return RecordPtr(new RecordSet(std::move(records)), RecordOwner{}); }

const RecordSet& record_set_of(const train::Sample& sample, const std::string& asks) {
  if (!sample.storage || !std::get_deleter<RecordOwner>(sample.storage))
    throw InputError(
        fmt::format("{} reads rows of tables; give a dataset of type clicks, interactions or pairs", asks));
  return *static_cast<const RecordSet*>(sample.storage.get());
}

train::SamplePtr sample_of(const RecordPtr& records, std::int64_t id) {
  auto sample = std::make_shared<train::Sample>();
  sample->id = id;
  sample->storage = records;
  const auto width = std::ssize(records->numbers);
  if (width > 0) sample->fields.emplace("numbers", io::tensor_of(records->number.data() + id * width, {width}));
  if (records->labelled) sample->fields.emplace(records->answer, io::tensor_of(&records->answers[id], {}));
  sample->bytes = 8 * (width + 1);
  for (std::size_t c = 0; c < records->columns.size(); ++c) sample->bytes += 4 * std::ssize(records->bag_of(id, c));
  return sample;
}

std::vector<train::FieldInfo> fields_of(const RecordSet& records) {
  std::vector<train::FieldInfo> out;
  if (!records.numbers.empty()) out.push_back({"numbers", "", {std::ssize(records.numbers)}, DType::f64});
  if (records.labelled) out.push_back({records.answer, records.unit, {}, DType::f64});
  return out;
}

std::uint64_t meaning_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash == 0 ? 1 : hash;
}

RowColumn column_of(const std::string& name, const VocabularyPtr& vocabulary) {
  return {name, std::ssize(*vocabulary) + 1, meaning_of(*vocabulary), vocabulary};
}

bool needs_rows_by(const std::vector<RowColumn>& known, const RecordSet& records) {
  if (!records.categories) return false;
  bool other = false;
  for (std::size_t c = 0; c < known.size(); ++c) {
    if (!known[c].vocabulary) return false;
    other = other || known[c].meaning != records.columns[c].meaning;
  }
  return other;
}

std::vector<std::int32_t> rows_by(const std::vector<RowColumn>& known, const RecordSet& records) {
  const auto& categories = *records.categories;
  std::vector<std::vector<std::int32_t>> rows;
  for (std::size_t c = 0; c < known.size(); ++c) rows.push_back(rows_of(categories.values[c], *known[c].vocabulary));
  std::vector<std::int32_t> out(categories.of.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = rows[k % rows.size()][categories.of[k]];
  return out;
}

RecordSet with_rows_by(const std::vector<RowColumn>& known, const RecordSet& records) {
  RecordSet out = records;
  const auto rows = std::make_shared<const std::vector<std::int32_t>>(rows_by(known, records));
  out.columns = known;
  out.stored = {rows};
  for (std::size_t k = 0; k < out.bag.size(); ++k) out.bag[k] = std::span(*rows).subspan(k, 1);
  return out;
}

std::string text_of_unknown(const std::vector<RowColumn>& known, const RecordSet& records,
                            std::span<const std::int32_t> rows) {
  std::vector<std::int64_t> unknown(known.size(), 0);
  for (std::size_t k = 0; k < rows.size(); ++k) unknown[k % known.size()] += rows[k] == 0;
  const auto all = std::accumulate(unknown.begin(), unknown.end(), std::int64_t{0});
  const auto most = std::max_element(unknown.begin(), unknown.end());
  const auto percent = [](std::int64_t part, std::size_t whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(1, whole));
  };
  std::string out =
      fmt::format("{}: {:.1f} % of the categories ({} of {}) are rare or unseen in training and have row 0",
                  records.source, percent(all, rows.size()), all, rows.size());
  if (all > 0)
    out += fmt::format(", most of them in {} ({:.1f} %)", known[static_cast<std::size_t>(most - unknown.begin())].name,
                       percent(*most, rows.size() / known.size()));
  return out;
}

void require_labels(const RecordSet& records) {
  if (!records.labelled)
    throw InputError(
        fmt::format("{}: the records have no labels, which training and evaluation need; name their column by the key "
                    "'label'",
                    records.source));
}

std::vector<std::string> names_of_numbers(const RecordSet& records) {
  std::vector<std::string> out;
  for (std::size_t k = 0; k < records.numbers.size(); k += 2) {
    if (records.numbers[k].starts_with("column ")) return {};
    out.push_back(records.numbers[k]);
  }
  return out;
}

/// Called for each sample: names are compared where they are, and put together for the message alone.
template <class Known, class Here>
static void require_order(std::size_t count, const char* kind, const Known& known, const Here& here,
                          const RecordSet& records, std::string_view whose) {
  for (std::size_t k = 0; k < count; ++k) {
    if (here(k) == known(k)) continue;
    std::vector<std::string> names;
    for (std::size_t j = 0; j < count; ++j) names.push_back(known(j));
    if (std::find(names.begin(), names.end(), here(k)) == names.end()) continue;
    throw InputError(fmt::format(
        "{}: {} column {} is '{}', but {} was given '{}' there, and '{}' at another position; give the columns in the "
        "order of the training: {}",
        records.source, kind, k + 1, here(k), whose, known(k), here(k), fmt::join(names, ", ")));
  }
}

void require_same_order(const std::vector<RowColumn>& columns, const std::vector<std::string>& numbers,
                        const RecordSet& records, std::string_view whose) {
  if (records.pairs || records.choices) return;
  const auto name = [](const std::vector<RowColumn>& of) {
    return [&of](std::size_t k) -> const std::string& { return of[k].name; };
  };
  require_order(std::min(columns.size(), records.columns.size()), "categorical", name(columns), name(records.columns),
                records, whose);
  require_order(
      std::min(numbers.size(), records.numbers.size() / 2), "dense",
      [&](std::size_t k) -> const std::string& { return numbers[k]; },
      [&](std::size_t k) -> const std::string& { return records.numbers[2 * k]; }, records, whose);
}

void require_same_rows(const std::vector<RowColumn>& known, const RecordSet& records, std::string_view whose) {
  for (std::size_t c = 0; c < known.size(); ++c) {
    const auto here = records.columns[c].meaning, there = known[c].meaning;
    if (here == there || here == 0 || there == 0) continue;
    if (known[c].vocabulary && records.categories) continue;
    if (records.pairs && c > 1)
      throw InputError(
          fmt::format("{}: rows of column {} represent other fragments than those that {} was given; give the data set "
                      "the radius, fragment_rows and kmer_length of the training",
                      records.source, records.columns[c].name, whose));
    if (records.pairs)
      throw InputError(
          fmt::format("{}: column {} indexes other items than the file that {} was given, so that rows would be read "
                      "as those of others; write all pairs into one file, with a column fold (folds: {{by: given}})",
                      records.source, records.columns[c].name, whose));
    throw InputError(
        fmt::format("{}, column {}: values have other rows than those that {} was given, and would be read as others; "
                    "give vocabulary (and vocabulary_file) the records of the training, and the same min_count",
                    records.source, records.columns[c].name, whose));
  }
}

void require_same_numbers(bool logarithm, const RecordSet& records, std::string_view whose) {
  if (records.numbers.empty() || records.logarithm == logarithm) return;
  const auto taken = [](bool by) { return by ? "by their logarithm" : "as they are"; };
  throw InputError(
      fmt::format("{}: dense values are taken {}, but {} was given them {}; give the data set logarithm: {}",
                  records.source, taken(records.logarithm), whose, taken(logarithm), logarithm));
}

void require_sound(const RecordSet& records) {
  for (std::int64_t r = 0; r < records.size(); ++r) {
    const auto at = static_cast<std::size_t>(r);
    const auto where = [&] { return fmt::format("{}, row {}", records.source, records.place[at]); };
    if (records.labelled && !std::isfinite(records.answers[at]))
      throw InputError(fmt::format("{}: {} is not a finite number", where(), records.answer));
    for (std::size_t k = 0; k < records.numbers.size(); ++k)
      if (!std::isfinite(records.number[at * records.numbers.size() + k]))
        throw InputError(fmt::format("{}: {} is not a finite number", where(), records.numbers[k]));
    for (std::size_t c = 0; c < records.columns.size(); ++c) {
      const auto bag = records.bag_of(r, c);
      const RowColumn& column = records.columns[c];
      if (bag.empty())
        throw InputError(
            fmt::format("{}, column {}: names no row of its table; every bag needs one", where(), column.name));
      for (const auto id : bag)
        if (id < 0 || id >= column.rows)
          throw InputError(fmt::format("{}, column {}: {} is outside its table, which has {} rows, numbered from 0",
                                       where(), column.name, id, column.rows));
    }
  }
}

}  // namespace cambium::relate
