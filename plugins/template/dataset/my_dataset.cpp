#include "my_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/text_lines.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::my_dataset {

void MyDataset::Params::describe(deck::Describe<Params>& d) {
  d("file", &Params::file, "text table: a line of names, then rows of values").example("table.txt");
  d("input", &Params::input, "columns that a network reads").example("[x, y]");
  d("target", &Params::target, "column that it predicts").example("z");
  d.check([](const Params& p) { return p.input.empty() ? std::string("input names no column") : std::string(); });
}

namespace {

bool is_comment(const std::string& line) { return line.empty() || line[0] == '#'; }

std::size_t column_of(const io::TextLines& file, const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) file.fail(fmt::format("there is no column '{}'{}", name, suggestion(name, names)));
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<double> read_table(const std::string& path, const std::vector<std::string>& wanted) {
  io::TextLines file(path);
  while (file.next() && is_comment(file.line())) continue;
  std::vector<std::string> names;
  for (const auto word : io::split(file.line())) names.emplace_back(word);
  std::vector<std::size_t> columns;
  for (const auto& name : wanted) columns.push_back(column_of(file, names, name));
  std::vector<double> rows;
  while (file.next()) {
    if (is_comment(file.line())) continue;
    const auto words = io::split(file.line());
    if (words.size() != names.size())
      file.fail(fmt::format("expected {} values, found {} words", names.size(), words.size()));
    for (std::size_t k = 0; k < columns.size(); ++k) rows.push_back(file.real(words[columns[k]], wanted[k]));
  }
  return rows;
}

}  // namespace

/// Every rank reads the file; an error on one is an error on all.
void MyDataset::open(Context& context) {
  std::vector<std::string> wanted = params_.input;
  wanted.push_back(params_.target);
  io::on_every_rank(context.comm,
                    [&] { rows_ = std::make_shared<std::vector<double>>(read_table(params_.file, wanted)); });
}

std::vector<train::FieldInfo> MyDataset::fields() const {
  return {{"input", "", {width() - 1}, DType::f64}, {"target", "", {1}, DType::f64}};
}

/// Samples are views of the table, which they keep alive.
std::vector<train::SamplePtr> MyDataset::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const std::int64_t id : ids) {
    const double* row = rows_->data() + id * width();
    auto sample = std::make_shared<train::Sample>();
    sample->id = id;
    sample->fields["input"] = io::tensor_of(std::span<const double>(row, static_cast<std::size_t>(width() - 1)));
    sample->fields["target"] = io::tensor_of(std::span<const double>(row + width() - 1, 1));
    sample->bytes = 8 * width();
    sample->storage = rows_;
    out.push_back(std::move(sample));
  }
  return out;
}

}  // namespace cambium::my_dataset
