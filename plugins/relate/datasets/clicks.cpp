#include "plugins/relate/datasets/clicks.hpp"

#include <fmt/format.h>

#include <numeric>

#include "core/base/error.hpp"
#include "core/io/reading.hpp"
#include "core/io/table_lines.hpp"
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
  if (p.made_up && (!p.label.empty() || !p.dense.empty() || !p.categorical.empty() || p.header || p.range))
    return "label, dense, categorical, header and range belong to file; synthetic records define all of these";
  if (p.range && ((*p.range)[0] < 0 || (*p.range)[0] >= (*p.range)[1]))
    return fmt::format("range [{}, {}] holds no records; give 0 <= first < last", (*p.range)[0], (*p.range)[1]);
  if (!io::separator_named(p.delimiter))
    return fmt::format("delimiter: '{}' is not one separating character; give one, tab or auto", p.delimiter);
  if (!p.rows.empty() && !(p.vocabulary.empty() && p.vocabulary_file.empty()))
    return "num_embeddings takes values as row indices, which need no vocabulary; remove one of them";
  for (const auto rows : p.rows)
    if (rows < 1) return fmt::format("num_embeddings: a table of {} rows is none; give 1 or more", rows);
  return "";
}

void Clicks::Params::describe(deck::Describe<Params>& d) {
  d("file", &Params::file,
    "text (CSV, TSV) with a line for each record, or HDF5 file with label, categorical (or code) and dense")
      .def("")
      .example("clicks.csv");
  d("label", &Params::label,
    "column of a text that holds the labels, 0 and 1 or -1 and 1: its name in the first line, or its number from 0; "
    "none: records without labels, to predict; default: label, click or clicked")
      .def("")
      .example("click");
  d("dense", &Params::dense,
    "columns of a text that hold dense features, by name or by number from 0; \"1-13\" and \"I1-I13\" are ranges; "
    "empty "
    "cells are missing values")
      .def({})
      .example("[\"1-13\"]");
  d("categorical", &Params::categorical,
    "columns of a text that hold categories, which may be any text; an empty cell is a category of its own")
      .def({})
      .example("[\"14-39\"]");
  d("delimiter", &Params::delimiter,
    "separator of the cells of a text: one character, or tab; auto: that of a first line sep=;, else the tab, "
    "semicolon "
    "or comma that the first line has")
      .def("auto");
  d("decimal", &Params::decimal, "decimal point; auto: a point, or a comma where commas do not separate cells")
      .options({{"auto", train::CsvForm::Decimal::found},
                {".", train::CsvForm::Decimal::point},
                {",", train::CsvForm::Decimal::comma}})
      .def(train::CsvForm::Decimal::found);
  d("header", &Params::header, "whether the first line of a text names the columns; default: found by its cells");
  d("range", &Params::range, "index range [first, end) of the records; default: all").example("[0, 8000]");
  d("group", &Params::group, "group of the file that holds them").def("").example("raw_train");
  d("vocabulary", &Params::vocabulary,
    "group of an HDF5 file whose values get rows of their own; default: those of the training records, also in "
    "evaluation, for which a model keeps them")
      .def("")
      .example("raw_train");
  d("vocabulary_file", &Params::vocabulary_file,
    "file whose values get rows of their own, if others than the training records define them; an HDF5 file with its "
    "group `vocabulary`, or a text like `file`")
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

ClickFile Clicks::file_keys() const {
  const auto& p = params_;
  ClickFile out{p.file, p.group, p.vocabulary, p.least, p.rows, p.vocabulary_file, p.logarithm};
  out.text = {io::separator_named(p.delimiter).value_or('\0'), p.decimal, p.header, p.label, p.dense, p.categorical};
  out.range = p.range;
  return out;
}

void Clicks::open(Context& context) {
  Notes notes;
  io::on_every_rank(context.comm, [&] {
    if (params_.made_up)
      records_ = share(make_clicks(*params_.made_up));
    else
      io::reading(params_.file, [&] { records_ = share(read_clicks(file_keys(), &notes)); });
  });
  report(context);
  for (const auto& note : notes) context.log.info("  " + note);
}

void Clicks::report(Context& context) const {
  const auto& records = *records_;
  std::int64_t rows = 0;
  for (const auto& column : records.columns) rows += column.rows;
  const double yes = std::accumulate(records.answers.begin(), records.answers.end(), 0.0);
  const double share = yes / static_cast<double>(std::max<std::int64_t>(1, size()));
  context.log.info(fmt::format("{} records of {}, {}; {} columns with {} rows, {} dense inputs", size(), records.source,
                               records.labelled ? fmt::format("{:.1f} % clicked", 100.0 * share) : "without labels",
                               records.columns.size(), rows, records.numbers.size()));
  if (records.categories) {
    std::int64_t values = 0, rare = 0;
    for (const auto& column : records.categories->values) values += std::ssize(column);
    for (const auto& bag : records.bag) rare += bag.front() == 0;
    context.log.info(fmt::format(
        "  {} different values, of which {} have rows of their own; the others, rarer than min_count {} or not in the "
        "vocabulary, are {:.1f} % of the cells",
        values, rows - std::ssize(records.columns), records.min_count,
        100.0 * static_cast<double>(rare) / static_cast<double>(std::max<std::size_t>(1, records.bag.size()))));
  }
  if (records.labelled && size() > 0 && (share == 0.0 || share == 1.0))
    context.log.warn(fmt::format("{}: all labels are {:g}: nothing is learned from one class, and its AUC is undefined",
                                 records.source, share));
  if (records.cut > 0)
    context.log.warn(
        fmt::format("{}: {} dense values are negative and count as 0, because they become log(1 + x); set logarithm: "
                    "false to take them as they are",
                    records.source, records.cut));
}

std::vector<train::SamplePtr> Clicks::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const auto id : ids) out.push_back(sample_of(records_, id));
  return out;
}

}  // namespace cambium::relate
