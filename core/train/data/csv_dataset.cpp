#include "core/train/data/csv_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/table_lines.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/data/shard_files.hpp"

namespace cambium::train {

void CsvDataset::Field::describe(deck::Describe<Field>& d) {
  d("name", &Field::name, "field name that networks refer to").example("flux");
  d("columns", &Field::columns, "columns that make up the field, in order; default: the one of the field's name")
      .example("[temperature, pressure]")
      .def({});
  d("unit", &Field::unit, "unit of the values; default: that in the line of names (\"flux [W/m^2]\")").example("W/m^2");
  d("numbers", &Field::numbers, "type of the values; auto: int64 where all cells are whole numbers, else float64")
      .options({{"auto", Numbers::by_cells}, {"float64", Numbers::real}, {"int64", Numbers::whole}})
      .def(Numbers::by_cells);
  d("categories", &Field::categories,
    "texts of the classes: a cell is one of them and is read as its index, counted from 0; default: cells are numbers")
      .example("[setosa, versicolor, virginica]")
      .def({});
  d.check([](const Field& f) -> std::string {
    for (std::size_t k = 0; k < f.categories.size(); ++k)
      if (std::find(f.categories.begin(), f.categories.begin() + static_cast<std::ptrdiff_t>(k), f.categories[k]) !=
          f.categories.begin() + static_cast<std::ptrdiff_t>(k))
        return fmt::format("categories: '{}' is given twice", f.categories[k]);
    return "";
  });
}

void CsvDataset::Params::describe(deck::Describe<Params>& d) {
  d("files", &Params::files,
    "text tables or file patterns, in order: a line of column names, then one line for each sample")
      .example("[data/run_*.csv]");
  d("fields", &Params::fields, "columns that make up a sample")
      .example("[{name: x, columns: [temperature, pressure]}]");
  d("range", &Params::range, "index range [first, end) of the samples, counted over all files; default: all")
      .example("[0, 8000]");
  d("missing", &Params::missing, "treatment of lines with a missing value (empty, NaN, NA, #N/A, null, a single point)")
      .options({{"refuse", Missing::refuse}, {"leave_out", Missing::leave_out}})
      .def(Missing::refuse);
  d("delimiter", &Params::delimiter,
    "separator of the cells: one character, or tab; auto: that of a first line sep=;, else the tab, semicolon or comma "
    "that the line of names has")
      .example("';'")
      .def("auto");
  d("decimal", &Params::decimal, "decimal point; auto: a point, or a comma where commas do not separate cells")
      .options({{"auto", CsvForm::Decimal::found}, {".", CsvForm::Decimal::point}, {",", CsvForm::Decimal::comma}})
      .def(CsvForm::Decimal::found);
  d.check([](const Params& p) -> std::string {
    if (!io::separator_named(p.delimiter))
      return fmt::format("delimiter: '{}' is not one separating character; give one, tab or auto", p.delimiter);
    if (p.files.empty()) return "files: name at least one table or pattern";
    if (p.fields.empty()) return "fields: name at least one column";
    for (std::size_t i = 0; i < p.fields.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (p.fields[i].name == p.fields[j].name) return fmt::format("fields: '{}' is given twice", p.fields[i].name);
    return "";
  });
}

static std::string unit_or_none(const std::string& unit) { return unit.empty() ? "no unit" : unit; }

bool CsvDataset::is_whole(std::size_t field, bool by_cells) const {
  const auto& wanted = params_.fields[field];
  if (wanted.numbers == Numbers::whole && !by_cells)
    throw InputError(
        fmt::format("'{}' has cells that are not whole numbers, expected int64; set numbers: float64", wanted.name));
  return wanted.numbers != Numbers::real && by_cells;
}

/// JSON header, a line break, and the values of all files.
std::string CsvDataset::bytes_of_files(Log& log) {
  std::vector<WantedColumns> wanted;
  for (const auto& field : params_.fields)
    wanted.push_back({field.name, field.columns.empty() ? std::vector{field.name} : field.columns, field.categories});
  const auto files = shard_files(params_.files);
  std::vector<CsvNumbers> parts;
  std::vector<bool> whole(wanted.size(), true);
  std::vector<std::string> units;
  nlohmann::json columns;
  std::int64_t lines = 0;
  for (const auto& path : files) {
    parts.push_back(read_csv_columns(path, wanted, params_.missing == Missing::leave_out,
                                     {io::separator_named(params_.delimiter).value_or('\0'), params_.decimal}));
    const auto& part = parts.back();
    for (std::size_t f = 0; f < wanted.size(); ++f) {
      whole[f] = whole[f] && part.is_whole[f];
      if (!units.empty() && part.units[f] != units[f])
        throw InputError(fmt::format("'{}' has '{}' in {}, but '{}' has it in {}; convert one of them", path,
                                     wanted[f].name, unit_or_none(part.units[f]), files.front(),
                                     unit_or_none(units[f])));
    }
    if (units.empty())
      for (const auto& field : part.columns) {
        auto& names = columns.emplace_back(nlohmann::json::array());
        for (const auto& column : field) names.push_back({column.name, column.unit});
      }
    units = part.units;
    lines += part.lines;
    if (part.left_out > 0)
      log.warn(fmt::format("'{}': {} lines with a missing value are left out, the first in {}", path, part.left_out,
                           part.first_left_out));
  }
  for (std::size_t f = 0; f < wanted.size(); ++f) whole[f] = is_whole(f, whole[f]);
  nlohmann::json head{{"lines", lines}, {"whole", whole}, {"units", units}, {"columns", columns}};
  std::string out = head.dump() + "\n";
  for (const auto& part : parts)
    for (std::size_t k = 0, at = 0; k < static_cast<std::size_t>(part.lines); ++k)
      for (std::size_t f = 0; f < wanted.size(); ++f)
        for (std::size_t c = 0; c < wanted[f].columns.size(); ++c, ++at) {
          const double number = whole[f] ? std::bit_cast<double>(part.whole[at]) : part.real[at];
          out.append(reinterpret_cast<const char*>(&number), sizeof number);
        }
  return out;
}

void CsvDataset::open(Context& context) {
  std::string bytes;
  io::on_root(context.comm, [&] {
    bytes = deck::about_key("csv.files", params_.files.size() == 1 ? "files[0]" : "files",
                            [&] { return bytes_of_files(context.log); });
  });
  context.comm.broadcast(bytes);
  const auto end = bytes.find('\n');
  const auto head = nlohmann::json::parse(bytes.substr(0, end));
  fields_.clear();
  width_ = 0;
  for (std::size_t f = 0; f < params_.fields.size(); ++f) {
    const auto& field = params_.fields[f];
    const auto found = head["units"][f].get<std::string>();
    if (field.unit && !found.empty() && *field.unit != found)
      throw KeyError(
          "csv.fields.unit", fmt::format("fields[{}].unit", f),
          fmt::format("the line of names gives '{}' in {}, the deck expects {}; correct the deck's key 'unit' "
                      "or convert the column",
                      field.name, found, unit_or_none(*field.unit)));
    std::vector<std::int64_t> shape;
    if (!field.columns.empty()) shape.push_back(std::ssize(field.columns));
    std::vector<TableColumn> columns;
    for (const auto& column : head["columns"][f]) columns.push_back({column[0], column[1]});
    fields_.push_back({field.name, field.unit.value_or(found), shape,
                       head["whole"][f].get<bool>() ? DType::i64 : DType::f64, field.categories, std::move(columns)});
    width_ += field.columns.empty() ? 1 : std::ssize(field.columns);
  }
  const auto lines = head["lines"].get<std::int64_t>();
  if (lines == 0)
    throw KeyError("csv.files.empty", "files",
                   fmt::format("'{}' holds no samples: no line follows the line of names", params_.files.front()));
  const auto range = params_.range.value_or(std::array<std::int64_t, 2>{0, lines});
  if (range[0] < 0 || range[1] > lines || range[0] >= range[1])
    throw KeyError("csv.range", "range",
                   fmt::format("range [{}, {}]: the files hold {} samples; give 0 <= first < last <= {}", range[0],
                               range[1], lines, lines));
  size_ = range[1] - range[0];
  auto table = std::make_shared<std::vector<double>>(static_cast<std::size_t>(size_ * width_));
  std::memcpy(table->data(), bytes.data() + end + 1 + 8 * range[0] * width_, 8 * table->size());
  table_ = std::move(table);
}

std::vector<SamplePtr> CsvDataset::read(std::span<const std::int64_t> ids) {
  std::vector<SamplePtr> out;
  for (const auto id : ids) {
    auto sample = std::make_shared<Sample>();
    sample->id = id;
    const double* at = table_->data() + id * width_;
    for (const auto& field : fields_) {
      TensorRef t;
      t.data = const_cast<double*>(at);
      t.dtype = field.dtype;
      for (const auto extent : field.shape) t.shape[t.rank++] = extent;
      if (t.rank == 1) t.stride[0] = 1;
      at += field.shape.empty() ? 1 : field.shape[0];
      sample->fields.emplace(field.name, t);
    }
    sample->bytes = 8 * width_;
    sample->storage = table_;
    out.push_back(std::move(sample));
  }
  return out;
}

}  // namespace cambium::train
