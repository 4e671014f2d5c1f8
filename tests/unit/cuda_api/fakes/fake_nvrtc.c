// The NVRTC calls that app/cuda_api/nvrtc.cpp makes. It compiles two sources only: "fine", and "told", whose PTX says
// what the program was given.
#include <stdio.h>

#include "fails.h"

enum { internal_error = 11 };

struct program {
  int fine, told, bad_option;
  char ptx[400];
};

static int alive = 0;
int fake_programs_alive(void) { return alive; }

static int answer(const char* call) { return fails(call) ? internal_error : 0; }

static void add(struct program* program, const char* before, const char* more) {
  if (!program->told) return;
  strcat(program->ptx, before);
  strcat(program->ptx, more);
}

int nvrtcVersion(int* major, int* minor) {
  *major = FAKE_MAJOR;
  *minor = FAKE_MINOR;
  return answer("nvrtcVersion");
}
int nvrtcCreateProgram(struct program** program, const char* source, const char* name, int count,
                       const char* const* headers, const char* const* names) {
  if (fails("nvrtcCreateProgram")) return internal_error;
  ++alive;
  *program = calloc(1, sizeof **program);
  (*program)->told = strcmp(source, "told") == 0;
  (*program)->fine = (*program)->told || strcmp(source, "fine") == 0;
  strcpy((*program)->ptx, (*program)->told ? name : "ptx");
  for (int i = 0; i < count; ++i) {
    add(*program, " header ", names[i]);
    add(*program, "=", headers[i]);
  }
  return 0;
}
int nvrtcDestroyProgram(struct program** program) {
  free(*program);
  *program = NULL;
  --alive;
  return 0;
}
int nvrtcCompileProgram(struct program* program, int count, const char* const* options) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(options[i], "--nonsense") == 0) return program->bad_option = 5;  // NVRTC_ERROR_INVALID_OPTION
    add(program, " option ", options[i]);
  }
  if (fails("nvrtcCompileProgram")) return internal_error;
  return program->fine ? 0 : 6;  // NVRTC_ERROR_COMPILATION
}
static const char* log_of(struct program* program) {
  if (fails("nvrtcCompileProgram")) return "";
  return program->bad_option ? "unrecognized option --nonsense"
         : program->fine     ? "k.cu(1): warning: fine"
                             : "k.cu(1): error: not fine";
}
int nvrtcGetProgramLogSize(struct program* program, size_t* size) {
  *size = strlen(log_of(program)) + 1;
  return answer("nvrtcGetProgramLogSize");
}
int nvrtcGetProgramLog(struct program* program, char* log) {
  strcpy(log, log_of(program));
  return answer("nvrtcGetProgramLog");
}
int nvrtcGetPTXSize(struct program* program, size_t* size) {
  *size = strlen(program->ptx) + 1;
  return answer("nvrtcGetPTXSize");
}
int nvrtcGetPTX(struct program* program, char* ptx) {
  strcpy(ptx, program->ptx);
  return answer("nvrtcGetPTX");
}
int nvrtcGetCUBINSize(struct program* program, size_t* size) {
  (void)program;
  *size = 5;
  return answer("nvrtcGetCUBINSize");
}
int nvrtcGetCUBIN(struct program* program, char* cubin) {
  (void)program;
  memcpy(cubin, "cubin", 5);
  return answer("nvrtcGetCUBIN");
}
int nvrtcAddNameExpression(struct program* program, const char* expression) {
  add(program, " entry ", expression);
  return answer("nvrtcAddNameExpression");
}
int nvrtcGetLoweredName(struct program* program, const char* expression, const char** name) {
  (void)program, (void)expression;
  *name = "lowered";
  return answer("nvrtcGetLoweredName");
}
const char* nvrtcGetErrorString(int code) {
  return code == 5 ? "NVRTC_ERROR_INVALID_OPTION" : code == internal_error ? "NVRTC_ERROR_INTERNAL_ERROR" : "another";
}
