import { join } from 'node:path';
import ts from 'typescript';
import { openCache } from './cache.ts';
import { hash } from './hash.ts';
import type { SourceTree } from './source-tree.ts';

/** What another text of one of the files changes for the compiler. */
export interface TypeCheck {
  /** Whether the file still compiles. What it exports is not followed into other files. What was found out once is remembered. */
  compiles: (file: string, text: string) => boolean;
  /** Whether other files may see other types. If not, they compile as before. */
  changesExports: (file: string, text: string) => boolean;
}

export function openTypeCheck({ root, textOf }: SourceTree, files: string[]): TypeCheck {
  const cache = openCache<boolean>(root, 'compiles');
  const before = hash(files.map((file) => hash(textOf(file))).join());
  const { compiles, declarationsOf } = startService(root, files);
  return {
    compiles: (file, text) => {
      const key = hash(`${before}\n${file}\n${text}`);
      const known = cache.get(key) ?? compiles(file, text);
      cache.set(key, known);
      return known;
    },
    changesExports: (file, text) => {
      const declared = declarationsOf(file, textOf(file));
      return declared === undefined || declared !== declarationsOf(file, text);
    },
  };
}

interface Service {
  compiles: (file: string, text: string) => boolean;
  /** The text of the file's declarations (.d.ts). Undefined if it has none that can be written. */
  declarationsOf: (file: string, text: string) => string | undefined;
}

function startService(root: string, files: string[]): Service {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile) as { config: unknown };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const changed = { file: '', text: '', version: 0 };
  const isChanged = (path: string) => path === changed.file;
  const service = ts.createLanguageService({
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    ...(ts.sys.realpath ? { realpath: ts.sys.realpath } : {}),
    getScriptFileNames: () => files.map((file) => join(root, file)),
    getScriptVersion: (path) => (isChanged(path) ? String(changed.version) : '0'),
    getScriptSnapshot: (path) => {
      const text = isChanged(path) ? changed.text : ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  });
  const change = (file: string, text: string) => {
    Object.assign(changed, { file: join(root, file), text, version: changed.version + 1 });
    return changed.file;
  };
  return {
    compiles: (file, text) => {
      const path = change(file, text);
      return service.getSyntacticDiagnostics(path).length + service.getSemanticDiagnostics(path).length === 0;
    },
    declarationsOf: (file, text) => service.getEmitOutput(change(file, text), true, true).outputFiles[0]?.text,
  };
}
