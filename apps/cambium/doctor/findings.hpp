#pragma once
#include <string>
#include <vector>

#include "core/base/log.hpp"

namespace cambium::doctor {

/// Outcome of one check.
enum class Mark {
  fine,
  note,  ///< works, but slower or otherwise than one may think
  wrong  ///< results or runs are in danger
};

/// The page of `cambium doctor`, line by line as it is found out. All ranks call; rank 0 prints.
class Findings {
 public:
  explicit Findings(Log& log) : log_(log) {}

  void heading(const std::string& text);
  /// Adds a fact without a rating.
  void fact(const std::string& what, const std::string& text);
  /// `found` includes the expectation; `remedy` is the fix, for all but fine ones.
  void add(Mark mark, const std::string& what, const std::string& found, const std::string& remedy = {});
  /// Adds a finding that is fine if `good`, else `otherwise`.
  void judge(bool good, Mark otherwise, const std::string& what, const std::string& found, const std::string& remedy) {
    add(good ? Mark::fine : otherwise, what, found, good ? "" : remedy);
  }

  int wrong() const { return wrong_; }
  int notes() const { return notes_; }
  int fine() const { return fine_; }

 private:
  Log& log_;
  int fine_ = 0, notes_ = 0, wrong_ = 0;
};

}  // namespace cambium::doctor
