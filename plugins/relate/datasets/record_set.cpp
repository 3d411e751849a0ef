#include "plugins/relate/datasets/record_set.hpp"

#include <fmt/format.h>

#include <cmath>

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
  sample->fields.emplace(records->answer, io::tensor_of(&records->answers[id], {}));
  sample->bytes = 8 * (width + 1);
  for (std::size_t c = 0; c < records->columns.size(); ++c) sample->bytes += 4 * std::ssize(records->bag_of(id, c));
  return sample;
}

std::vector<train::FieldInfo> fields_of(const RecordSet& records) {
  std::vector<train::FieldInfo> out;
  if (!records.numbers.empty()) out.push_back({"numbers", "", {std::ssize(records.numbers)}, DType::f64});
  out.push_back({records.answer, records.unit, {}, DType::f64});
  return out;
}

std::uint64_t meaning_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash == 0 ? 1 : hash;
}

void require_same_rows(const std::vector<RowColumn>& known, const RecordSet& records, std::string_view whose) {
  for (std::size_t c = 0; c < known.size(); ++c) {
    const auto here = records.columns[c].meaning, there = known[c].meaning;
    if (here == there || here == 0 || there == 0) continue;
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
    if (!std::isfinite(records.answers[at]))
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
