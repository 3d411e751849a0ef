// Matrix files as they are read, for market_spellings.py: of each file that is named on standard input one line, its
// rows and elements as hexadecimal numbers, or what is wrong with it.
#include <fmt/format.h>

#include <iostream>

#include "core/base/error.hpp"
#include "plugins/submatrix/matrices/matrix_file.hpp"

int main() {
  for (std::string path; std::getline(std::cin, path);) try {
      const auto file = cambium::submatrix::read_matrix_file(path);
      std::string line = std::to_string(file.rows);
      for (const auto& entry : file.entries) line += fmt::format(" {} {} {:a}", entry.row, entry.column, entry.value);
      std::cout << line << '\n';
    } catch (const cambium::InputError& error) {
      std::cout << "refused: " << error.what() << '\n';
    }
}
