#pragma once
#include <KIM_FunctionTypes.hpp>
#include <KIM_LanguageName.hpp>
#include <KIM_Log.hpp>
#include <string>

namespace cambium::kim {

/// During its lifetime, objects created by the KIM API write no log: otherwise a file kim.log would appear in the
/// current folder.
class Quiet {
 public:
  Quiet() { KIM::Log::PushDefaultPrintFunction(KIM::LANGUAGE_NAME::cpp, reinterpret_cast<KIM::Function*>(&drop)); }
  ~Quiet() { KIM::Log::PopDefaultPrintFunction(); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  static int drop(const std::string&) { return 0; }
};

}  // namespace cambium::kim
