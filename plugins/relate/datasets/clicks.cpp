#include "plugins/relate/datasets/clicks.hpp"

#include <fmt/format.h>

#include <numeric>

#include "core/base/error.hpp"
#include "core/io/reading.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::relate {

void Clicks::Made::describe(deck::Describe<Made>& d) {
  d("records", &Made::records, "number of records").at_least(2).def(4000);
  d("categorical_features", &Made::columns, "columns of values").formerly("columns").range(1, 1000).def(6);
  d("rows", &Made::rows, "different values of a column").range(1, 1e9).def(30);
  d("dense_features", &Made::numbers, "number of dense features of a record").formerly("numbers").range(0, 1000).def(4);
  d("first_index", &Made::first, "index of the first record; other indices give new records by the same rule")
      .formerly("first")
      .at_least(0)
      .def(0);
  d("seed", &Made::seed, "seed of the rule").at_least(0).def(1);
}

static std::string clicks_problem(const Clicks::Params& p) {
  if (p.file.empty() == !p.made_up) return "give one of: file, synthetic";
  if (p.made_up && (!p.group.empty() || !p.vocabulary.empty() || !p.vocabulary_file.empty() || !p.rows.empty()))
    return "group, vocabulary, vocabulary_file and num_embeddings belong to file; synthetic records define all of "
           "these";
  if (!p.rows.empty() && !(p.vocabulary.empty() && p.vocabulary_file.empty()))
    return "num_embeddings takes values as row indices, which need no vocabulary; remove one of them";
  for (const auto rows : p.rows)
    if (rows < 1) return fmt::format("num_embeddings: a table of {} rows is none; give 1 or more", rows);
  return "";
}

void Clicks::Params::describe(deck::Describe<Params>& d) {
  d("file", &Params::file, "HDF5 file with label, categorical (or code) and dense").def("").example("clicks.h5");
  d("group", &Params::group, "group of the file that holds them").def("").example("raw_train");
  d("vocabulary", &Params::vocabulary,
    "group whose values get rows of their own, the one to train on; `group` itself when absent")
      .def("")
      .example("raw_train");
  d("vocabulary_file", &Params::vocabulary_file,
    "file of the group `vocabulary`, if the training records are in another file; default: `file`")
      .def("")
      .example("training.h5");
  d("min_count", &Params::least,
    "minimum count of a value in the vocabulary for an embedding row of its own; rarer values share row 0")
      .formerly("least")
      .at_least(1)
      .def(2);
  d("num_embeddings", &Params::rows,
    "number of embedding rows of each column's table, if the file's values are row indices")
      .formerly("rows")
      .def({});
  d("logarithm", &Params::logarithm,
    "logarithm of dense features: x becomes log(1 + max(x, 0)), suitable for counts; false: values as they are")
      .def(true);
  d("synthetic", &Params::made_up, "synthetic records by a known rule, instead of a file").formerly("made_up");
  d.check(clicks_problem);
}

void Clicks::open(Context& context) {
  io::on_every_rank(context.comm, [&] {
    if (params_.made_up) {
      records_ = share(make_clicks(*params_.made_up));
    } else {
      io::reading(params_.file, [&] {
        records_ = share(read_clicks({params_.file, params_.group, params_.vocabulary, params_.least, params_.rows,
                                      params_.vocabulary_file, params_.logarithm}));
      });
    }
  });
  std::int64_t rows = 0;
  for (const auto& column : records_->columns) rows += column.rows;
  const double yes = std::accumulate(records_->answers.begin(), records_->answers.end(), 0.0);
  context.log.info(fmt::format("{} records of {}, {:.1f} % clicked; {} columns with {} rows, {} dense inputs", size(),
                               records_->source, 100.0 * yes / static_cast<double>(std::max<std::int64_t>(1, size())),
                               records_->columns.size(), rows, records_->numbers.size()));
  if (records_->cut > 0)
    context.log.warn(
        fmt::format("{}: {} dense values are negative and count as 0, because they become log(1 + x); set logarithm: "
                    "false to take them as they are",
                    records_->source, records_->cut));
}

std::vector<train::SamplePtr> Clicks::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const auto id : ids) out.push_back(sample_of(records_, id));
  return out;
}

}  // namespace cambium::relate
