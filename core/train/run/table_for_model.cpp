#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/table_lines.hpp"
#include "core/train/run/data_of_file.hpp"

namespace cambium::train {

namespace {

/// Spelling of the tables of the training, for new ones; all defaults if it had other data.
CsvDataset::Params keys_of_training(const ArtifactInfo& info) {
  CsvDataset::Params out;
  if (info.training.empty()) return out;
  const auto keys = deck::parse(info.training, "training");
  if (const auto delimiter = keys["delimiter"].text(); io::separator_named(delimiter)) out.delimiter = delimiter;
  const auto decimal = keys["decimal"].text();
  if (decimal == ".") out.decimal = CsvForm::Decimal::point;
  if (decimal == ",") out.decimal = CsvForm::Decimal::comma;
  if (keys["missing"].text() == "leave_out") out.missing = CsvDataset::Missing::leave_out;
  return out;
}

std::string in_words(const std::string& unit) { return unit.empty() ? "no unit" : unit; }

class TableForModel {
 public:
  TableForModel(const AppliedModel& model, const std::string& path)
      : model_(model), path_(path),
        out_(keys_of_training(model.loaded().info)), form_{io::separator_named(out_.delimiter).value_or('\0'),
                                                           out_.decimal},
        columns_(survey_csv(path, form_)) {
    out_.files = {path};
  }

  CsvDataset::Params params(Log& log) {
    const auto& trained = model_.loaded().info.fields;
    for (const auto& input : model_.inputs()) out_.fields.push_back(input_field(input));
    for (const auto& field : trained)
      if (!is_input(field.info.name)) add_label(field.info);
    add_others(log);
    return std::move(out_);
  }

 private:
  bool is_input(const std::string& name) const {
    return std::any_of(model_.inputs().begin(), model_.inputs().end(), [&](const auto& f) { return f.name == name; });
  }

  /// The column of this name, in this unit if there are several; null if there is none.
  const CsvColumn* column(const TableColumn& wanted) const {
    const CsvColumn* found = nullptr;
    for (const auto& here : columns_) {
      if (here.parts == wanted) return &here;
      if (here.parts.name == wanted.name && !found) found = &here;
    }
    return found;
  }

  /// The unit of a column in the training, from its heading or else from the deck.
  static std::string unit_of(const FieldInfo& field, const TableColumn& column) {
    return column.unit.empty() ? field.unit : column.unit;
  }

  /// A heading without unit is that of the training if it had none there either.
  static bool same_unit(const FieldInfo& field, const TableColumn& trained, const TableColumn& here) {
    return here.unit == unit_of(field, trained) || (here.unit.empty() && trained.unit.empty());
  }

  void require_column(const FieldInfo& field, const TableColumn& wanted) const {
    const auto* here = column(wanted);
    if (!here) {
      std::vector<std::string> names;
      for (const auto& each : columns_) names.push_back(each.heading);
      throw InputError(fmt::format("'{}' has no column '{}', which model '{}' reads; it has: '{}'", path_, wanted.name,
                                   model_.path(), fmt::join(names, "', '")));
    }
    if (same_unit(field, wanted, here->parts)) return;
    const auto unit = unit_of(field, wanted);
    throw InputError(fmt::format(
        "'{}' has the column '{}' in {}, but model '{}' was trained on it in {}; convert the column, or correct its "
        "heading: '{}'",
        path_, wanted.name, in_words(here->parts.unit), model_.path(), in_words(unit),
        unit.empty() ? wanted.name : fmt::format("{} [{}]", wanted.name, unit)));
  }

  /// The field of these columns, all of which the table has.
  CsvDataset::Field field_of(const FieldInfo& info) const {
    CsvDataset::Field out;
    out.name = info.name;
    if (!info.shape.empty())
      for (const auto& wanted : info.columns) out.columns.push_back(column(wanted)->heading);
    if (!info.unit.empty()) out.unit = info.unit;
    out.categories = info.categories;
    return out;
  }

  CsvDataset::Field input_field(const FieldInfo& info) const {
    if (info.columns.empty())
      throw InputError(fmt::format(
          "model '{}' does not store which columns its input '{}' has: it was trained on other data than tables, or by "
          "an earlier version; name them in a deck: the stage predict with the data set csv",
          model_.path(), info.name));
    for (const auto& wanted : info.columns) require_column(info, wanted);
    return field_of(info);
  }

  /// Labels with a gap are those of some samples only, and are left out.
  void add_label(const FieldInfo& info) {
    if (info.columns.empty()) return;
    for (const auto& wanted : info.columns) {
      const auto* here = column(wanted);
      if (!here || !same_unit(info, wanted, here->parts) || !is_complete(*here, info.categories)) return;
    }
    out_.fields.push_back(field_of(info));
  }

  bool is_complete(const CsvColumn& here, const std::vector<std::string>& categories) const {
    if (categories.empty()) return here.numeric;
    const auto texts = texts_in_csv(path_, here.heading, form_);
    return std::all_of(texts.begin(), texts.end(), [&](const auto& text) {
      return std::find(categories.begin(), categories.end(), text) != categories.end();
    });
  }

  /// True for a column of a field, and for one whose field would have a name that is taken.
  bool is_taken(const CsvColumn& here) const {
    const auto& name = here.parts.name;
    for (const auto& field : model_.loaded().info.fields) {
      if (field.info.name == name) return true;
      for (const auto& wanted : field.info.columns)
        if (column(wanted) == &here) return true;
    }
    return name == "sample" || std::any_of(model_.outputs().begin(), model_.outputs().end(),
                                           [&](const auto& output) { return output.name == name; });
  }

  void add_others(Log& log) {
    std::vector<std::string> left;
    for (const auto& here : columns_) {
      if (is_taken(here)) continue;
      const auto& name = here.parts.name;
      const auto alike =
          std::count_if(columns_.begin(), columns_.end(), [&](const auto& other) { return other.parts.name == name; });
      if (name.empty() || alike > 1) {
        left.push_back(here.heading);
        continue;
      }
      CsvDataset::Field field;
      field.name = name;
      if (!here.numeric) field.categories = texts_in_csv(path_, here.heading, form_);
      out_.fields.push_back(std::move(field));
    }
    if (!left.empty())
      log.info(fmt::format("columns of '{}' without a name of their own are not copied: '{}'", path_,
                           fmt::join(left, "', '")));
  }

  const AppliedModel& model_;
  std::string path_;
  CsvDataset::Params out_;
  CsvForm form_;
  std::vector<CsvColumn> columns_;
};

}  // namespace

CsvDataset::Params table_for_model(const AppliedModel& model, const std::string& path, Log& log) {
  return TableForModel(model, path).params(log);
}

}  // namespace cambium::train
