//===- HeaderWriter.cpp - C and C++ headers of kernels ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A header documents what the manifest says, declares the C function and the
// KronKernel constant of every kernel, and for C++ an overload on typed views.
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Names.h"
#include "kron/Target/Output.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::kron;

/// `name` as a parameter: one that would hide something gets an underscore.
static std::string getParameterName(StringRef name) {
  bool isTaken = isKeyword(name) || name == "kron";
  return isTaken ? (name + "_").str() : name.str();
}

static StringRef getCppType(KronType type) {
  switch (type) {
  case KRON_F32:
    return "float";
  case KRON_F64:
    return "double";
  case KRON_F16:
    return "kron::Half";
  case KRON_BF16:
    return "kron::BFloat16";
  case KRON_I32:
    return "int32_t";
  case KRON_I64:
    return "int64_t";
  case KRON_C32:
    return "std::complex<float>";
  case KRON_C64:
    return "std::complex<double>";
  case KRON_F80:
    return "long double";
  case KRON_C80:
    return "std::complex<long double>";
  case KRON_I8:
    return "int8_t";
  case KRON_F8E4M3FN:
    return "kron::Float8E4M3FN";
  case KRON_F8E5M2:
    return "kron::Float8E5M2";
  }
  llvm_unreachable("unknown type");
}

/// "[n0, 64]": sizes, with the names of equal ones.
static std::string getShapeText(const ArgManifest &arg) {
  SmallVector<std::string> sizes;
  for (auto [size, symbol] : llvm::zip(arg.sizes, arg.symbols)) {
    if (size >= 0)
      sizes.push_back(std::to_string(size));
    else if (symbol >= 0)
      sizes.push_back("n" + std::to_string(symbol));
    else
      sizes.push_back("any");
  }
  return "[" + llvm::join(sizes, ", ") + "]";
}

static void writeComment(llvm::raw_ostream &stream,
                         const KernelManifest &kernel) {
  static constexpr llvm::StringLiteral accesses[] = {"read", "written",
                                                     "read and written"};
  static constexpr llvm::StringLiteral layouts[] = {
      "any strides", "innermost stride 1", "row-major without gaps"};
  stream
      << "/** Arguments, with sizes slowest axis first (sizes of one name are "
         "equal):\n";
  for (const ArgManifest &arg : kernel.args) {
    stream << "    - " << getParameterName(arg.name) << ": ";
    if (arg.isScalar)
      stream << "scalar " << getTypeName(arg.type) << ", rank 0\n";
    else
      stream << getTypeName(arg.type) << " " << getShapeText(arg) << ", "
             << layouts[arg.contiguity] << ", " << accesses[arg.access] << "\n";
  }
  stream << "    What is written must not overlap anything else. Checks its "
            "arguments; returns\n    KRON_SUCCESS or what is wrong "
            "(kronGetLastError has the sentence). */\n";
}

static void writeCFunction(llvm::raw_ostream &stream,
                           const KernelManifest &kernel, bool withGPU) {
  auto writeParams = [&] {
    llvm::interleaveComma(kernel.args, stream, [&](const ArgManifest &arg) {
      stream << "const KronArray *" << getParameterName(arg.name);
    });
  };
  writeComment(stream, kernel);
  stream << "KronStatus " << kernel.name << "(";
  writeParams();
  stream << (kernel.args.empty() ? "void" : "") << ");\n";
  if (withGPU) {
    stream
        << "/** The same on stream `kronStream` (NULL: the default one) of GPU "
           "`kronDevice`,\n    for arrays in its memory. */\n";
    stream << "KronStatus " << kernel.name << "_cuda(";
    writeParams();
    stream << (kernel.args.empty() ? "" : ", ")
           << "int32_t kronDevice, void *kronStream);\n";
  }
  stream << "/** The same for kronLaunch, with options: "
         << (withGPU ? "target, " : "") << "threads, workspace. */\n";
  stream << "extern const KronKernel kron_kernel_" << kernel.name << ";\n\n";
}

static void writeCppFunction(llvm::raw_ostream &stream,
                             const KernelManifest &kernel, bool onGPU) {
  if (kernel.args.empty())
    return;
  std::string functionName = kernel.name + (onGPU ? "_cuda" : "");
  stream << "/** " << functionName << " on typed views. */\n";
  stream << "inline KronStatus " << functionName << "(";
  llvm::interleave(
      kernel.args, stream,
      [&](const ArgManifest &arg) {
        StringRef type = getCppType(arg.type);
        if (arg.isScalar)
          stream << type << " ";
        else
          stream << "kron::View<" << (arg.access == KRON_READ ? "const " : "")
                 << type << "> ";
        stream << getParameterName(arg.name);
      },
      ",\n    ");
  stream << (onGPU ? ",\n    int32_t kronDevice, void *kronStream" : "")
         << ") {\n";
  for (auto [index, arg] : llvm::enumerate(kernel.args)) {
    std::string name = getParameterName(arg.name);
    if (arg.isScalar) {
      stream << "  kron::View<" << getCppType(arg.type) << "> kronView" << index
             << "(" << name << ");\n";
      name = "kronView" + std::to_string(index);
    }
    stream << "  KronArray kronArray" << index << " = " << name << ";\n";
  }
  stream << "  return " << functionName << "(";
  for (size_t index = 0; index < kernel.args.size(); ++index)
    stream << (index ? ", " : "") << "&kronArray" << index;
  stream << (onGPU ? ", kronDevice, kronStream" : "") << ");\n}\n\n";
}

void kron::writeHeader(llvm::raw_ostream &stream,
                       ArrayRef<KernelManifest> kernels, StringRef stem,
                       bool withGPU) {
  std::string guard = "KRON_KERNELS_";
  for (char c : stem)
    guard += llvm::isAlnum(c) ? llvm::toUpper(c) : '_';
  guard += "_H";
  stream << "/* Kernels of " << stem
         << ".mlir. Written by kronc; changes will be lost. */\n\n";
  stream << "#ifndef " << guard << "\n#define " << guard << "\n\n";
  stream << "#include \"kron/Runtime/Runtime.h\"\n\n";
  stream << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (const KernelManifest &kernel : kernels)
    writeCFunction(stream, kernel, withGPU);
  stream << "#ifdef __cplusplus\n} /* extern \"C\" */\n\n";
  stream << "#include \"kron/Runtime/Runtime.hpp\"\n\n";
  for (const KernelManifest &kernel : kernels) {
    writeCppFunction(stream, kernel, /*onGPU=*/false);
    if (withGPU)
      writeCppFunction(stream, kernel, /*onGPU=*/true);
  }
  stream << "#endif /* __cplusplus */\n\n#endif /* " << guard << " */\n";
}
