#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cambium::train {

/// Calls and bytes of this rank in each collective, by level of the mesh. Bytes are those of the arrays passed to MPI
/// (for a send, of the message).
class Traffic {
 public:
  struct Row {
    std::string collective, level;
    std::int64_t calls = 0, bytes = 0;
  };
  void count(std::string_view collective, std::string_view level, std::int64_t bytes) {
    for (auto& row : rows_)
      if (row.collective == collective && row.level == level) {
        ++row.calls;
        row.bytes += bytes;
        return;
      }
    rows_.push_back({std::string(collective), std::string(level), 1, bytes});
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

}  // namespace cambium::train
