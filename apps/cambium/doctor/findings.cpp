#include "apps/cambium/doctor/findings.hpp"

#include <fmt/format.h>

namespace cambium::doctor {

void Findings::heading(const std::string& text) { log_.info("\n" + text); }

void Findings::fact(const std::string& what, const std::string& text) {
  log_.info(fmt::format("         {:<16}{}", what, text));
}

void Findings::add(Mark mark, const std::string& what, const std::string& found, const std::string& remedy) {
  const char* word = mark == Mark::fine ? "fine" : mark == Mark::note ? "NOTE" : "WRONG";
  ++(mark == Mark::fine ? fine_ : mark == Mark::note ? notes_ : wrong_);
  log_.info(fmt::format("  {:<7}{:<16}{}", word, what, found));
  if (!remedy.empty()) log_.info(fmt::format("{:25}-> {}", "", remedy));
}

}  // namespace cambium::doctor
