#pragma once
#include <stdexcept>
#include <string>

namespace cambium {

/// Exit codes of the `cambium` program; defined only here.
enum class ExitCode : int { done = 0, bad_input = 2, stopped_early = 3, numerical_failure = 4, internal_error = 70 };

/// An error that the user can fix: deck, file, command line. The text explains how. Ends the program with exit code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The calculation failed (NaN force, lost atoms). The text gives cause, step, rank and location. Exit code 4.
class NumericalError : public std::runtime_error {
 public:
  /// `elsewhere`: this rank only follows another one, whose message has the details.
  explicit NumericalError(const std::string& text, bool elsewhere = false)
      : std::runtime_error(text), elsewhere_(elsewhere) {}
  bool elsewhere() const { return elsewhere_; }

 private:
  bool elsewhere_;
};

/// A condition that only a defect of Cambium can cause. Exit code 70.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace cambium
