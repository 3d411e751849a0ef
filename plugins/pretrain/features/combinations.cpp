#include "plugins/pretrain/features/combinations.hpp"

namespace cambium::pretrain {

Matrix combinations(const std::map<std::string, std::vector<double>>& values) {
  std::int64_t rows = 1;
  for (const auto& [name, of] : values) rows *= std::ssize(of);
  Matrix out(rows, std::ssize(values));
  for (std::int64_t k = 0; k < rows; ++k) {
    std::int64_t rest = k, column = out.columns;
    for (auto it = values.rbegin(); it != values.rend(); ++it) {
      out(k, --column) = it->second[rest % std::ssize(it->second)];
      rest /= std::ssize(it->second);
    }
  }
  return out;
}

}  // namespace cambium::pretrain
