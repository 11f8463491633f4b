CREATE TABLE migrations ( name TEXT NOT NULL, table_name TEXT NOT NULL, PRIMARY KEY(name, table_name) );

CREATE TABLE items (acoustid_fingerprint TEXT, acoustid_id TEXT, added REAL, album TEXT, album_id INTEGER, albumartist TEXT, albumartist_credit TEXT, albumartist_sort TEXT, albumartists TEXT, albumartists_credit TEXT, albumartists_sort TEXT, albumdisambig TEXT, albumstatus TEXT, albumtype TEXT, albumtypes TEXT, arrangers TEXT, arrangers_ids TEXT, artist TEXT, artist_credit TEXT, artist_sort TEXT, artists TEXT, artists_credit TEXT, artists_ids TEXT, artists_sort TEXT, asin TEXT, barcode TEXT, bitdepth INTEGER, bitrate INTEGER, bitrate_mode TEXT, bpm INTEGER, catalognum TEXT, channels INTEGER, comments TEXT, comp INTEGER, composer_sort TEXT, composers TEXT, composers_ids TEXT, country TEXT, day INTEGER, disc INTEGER, discogs_albumid INTEGER, discogs_artistid INTEGER, discogs_labelid INTEGER, disctitle TEXT, disctotal INTEGER, encoder TEXT, encoder_info TEXT, encoder_settings TEXT, format TEXT, genres TEXT, grouping TEXT, id INTEGER PRIMARY KEY, initial_key TEXT, isrc TEXT, label TEXT, language TEXT, length REAL, lyricists TEXT, lyricists_ids TEXT, lyrics TEXT, mb_albumartistid TEXT, mb_albumartistids TEXT, mb_albumid TEXT, mb_artistid TEXT, mb_artistids TEXT, mb_releasegroupid TEXT, mb_releasetrackid TEXT, mb_trackid TEXT, mb_workid TEXT, media TEXT, month INTEGER, mtime REAL, original_day INTEGER, original_month INTEGER, original_year INTEGER, path BLOB, r128_album_gain REAL, r128_track_gain REAL, release_group_title TEXT, releasegroupdisambig TEXT, remixers TEXT, remixers_ids TEXT, rg_album_gain REAL, rg_album_peak REAL, rg_track_gain REAL, rg_track_peak REAL, samplerate INTEGER, script TEXT, style TEXT, subtitle TEXT, title TEXT, track INTEGER, trackdisambig TEXT, tracktotal INTEGER, work TEXT, work_disambig TEXT, year INTEGER);

CREATE TABLE item_attributes ( id INTEGER PRIMARY KEY, entity_id INTEGER, key TEXT, value TEXT, UNIQUE(entity_id, key) ON CONFLICT REPLACE);

CREATE TABLE albums (added REAL, album TEXT, albumartist TEXT, albumartist_credit TEXT, albumartist_sort TEXT, albumartists TEXT, albumartists_credit TEXT, albumartists_sort TEXT, albumdisambig TEXT, albumstatus TEXT, albumtype TEXT, albumtypes TEXT, artpath BLOB, asin TEXT, barcode TEXT, catalognum TEXT, comp INTEGER, country TEXT, day INTEGER, discogs_albumid INTEGER, discogs_artistid INTEGER, discogs_labelid INTEGER, disctotal INTEGER, genres TEXT, id INTEGER PRIMARY KEY, label TEXT, language TEXT, mb_albumartistid TEXT, mb_albumartistids TEXT, mb_albumid TEXT, mb_releasegroupid TEXT, month INTEGER, original_day INTEGER, original_month INTEGER, original_year INTEGER, r128_album_gain REAL, release_group_title TEXT, releasegroupdisambig TEXT, rg_album_gain REAL, rg_album_peak REAL, script TEXT, style TEXT, year INTEGER);

CREATE TABLE album_attributes ( id INTEGER PRIMARY KEY, entity_id INTEGER, key TEXT, value TEXT, UNIQUE(entity_id, key) ON CONFLICT REPLACE);

CREATE INDEX item_attributes_by_entity ON item_attributes (entity_id);

CREATE INDEX idx_item_album_id ON items (album_id);

CREATE INDEX album_attributes_by_entity ON album_attributes (entity_id);

INSERT INTO "migrations" VALUES
('a0','A0'),
('a,b1','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1'),
('0072','A2'),
('3','null3'),
('line'||char(10)||'break4','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx4'),
('2024-02-205','1e35'),
('  padded 6','2024-02-206'),
('  padded 7','50%7'),
('Zürich8','78'),
('Zürich9','null9'),
('10','ä10'),
('11','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx11');

INSERT INTO "items" VALUES
(NULL,'007',123456.789,'ä',1,NULL,'a',NULL,'Zürich','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','  padded ','1e3','a','50%','A','1e3','  padded ','  padded ','its','null','日本','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','7','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','line'||char(10)||'break','A',0,44100,'a',NULL,NULL,1,'null',3,NULL,NULL,NULL,NULL,5,0,44100,5,2,'a,b',2,NULL,'ä',NULL,'7','null','null',1,'日本','','007',NULL,1.0e+70,'日本','7','its','a',NULL,'line'||char(10)||'break','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',NULL,'line'||char(10)||'break',NULL,NULL,NULL,'2024-02-20',2,1.0e+70,5,1,5,NULL,123456.789,1.0e-05,'A','','  padded ','007',1.0e+70,0.0,NULL,2.0,NULL,'its',NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','007',0,NULL,NULL,'A','A',0),
(NULL,'Zürich',123456.789,'null',0,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',NULL,'ä','line'||char(10)||'break',NULL,'A',NULL,'Zürich','ä','50%','null','A','1e3','ä',NULL,'1e3','Zürich','line'||char(10)||'break',NULL,'日本','日本',NULL,44100,'7',NULL,'A',3,'2024-02-20',3,NULL,'a,b','ä',NULL,2,0,NULL,2,2,'日本',44100,'2024-02-20','2024-02-20','日本',NULL,'007','line'||char(10)||'break',2,'日本','a','007','1e3',1.0e+70,NULL,NULL,'日本','ä','a,b',NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','50%','Zürich','a,b',NULL,'line'||char(10)||'break','true',0,1.0e-05,2,3,44100,X'F2BEE585FA',0.1,0.1,'50%',NULL,NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',123456.789,NULL,2.0,123456.789,5,'1e3','1e3','a','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',3,'Zürich','日本',1),
(NULL,'true',1.0e+70,'Zürich',44100,'日本','a','its','null','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','its','A','line'||char(10)||'break','A','A','A','50%',NULL,'A','A',NULL,'2024-02-20',NULL,NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','null',5,NULL,'line'||char(10)||'break',1,'',0,'A',5,'line'||char(10)||'break','its','null','a',3,3,1,1,2,'50%',NULL,'line'||char(10)||'break','ä','ä',NULL,'its','1e3',3,'50%','007',NULL,'1e3',0.1,'Zürich',NULL,'','','50%','7','7',NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','Zürich',NULL,'line'||char(10)||'break','50%',3,0.0,3,NULL,NULL,X'0776D414902F',2.0,1.0e+70,'Zürich','A','日本','a',1.0e+70,1.0e+70,0.1,NULL,0,'50%','ä','','  padded ',NULL,'A',2,NULL,NULL,5),
('  padded ','its',123456.789,'  padded ',5,'007','日本','2024-02-20','7','Zürich','','null','1e3',NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',NULL,'true','日本','1e3','a','true','','a','7','null','a',NULL,2,'a',5,'line'||char(10)||'break',NULL,'a,b',5,NULL,'ä','',NULL,0,3,NULL,NULL,44100,'null',1,NULL,'null','  padded ','  padded ','null','  padded ',4,'a','a,b','2024-02-20',NULL,0.1,'a',NULL,'a','line'||char(10)||'break','','true','a,b',NULL,'ä','  padded ','50%','its','1e3',NULL,0.0,NULL,5,5,X'4C39',1.0e-05,1.0e-05,'1e3',NULL,'a',NULL,1.0e-05,2.0,0.0,-1.5,2,'007','2024-02-20','a,b','  padded ',3,NULL,1,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','true',NULL),
('its','true',-1.5,NULL,NULL,'its','Zürich','A','line'||char(10)||'break','true','Zürich','Zürich','Zürich','Zürich','a','a','2024-02-20',NULL,'line'||char(10)||'break','a,b',NULL,'007','a','  padded ',NULL,'2024-02-20',NULL,NULL,'2024-02-20',NULL,'a,b',3,'null',5,'null','007','50%','007',NULL,5,5,3,44100,'',1,'日本','line'||char(10)||'break','true','null','1e3','a',5,'7','2024-02-20','A','  padded ',-1.5,'Zürich','  padded ','A','日本','its','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','ä','ä','its','ä','ä','7','a,b',NULL,NULL,2,0,5,NULL,2.0,0.1,NULL,'true','2024-02-20','a',1.0e-05,-1.5,1.0e+70,1.0e+70,3,'its','null','50%','日本',NULL,'',3,'A','its',0),
('',NULL,NULL,'007',5,'  padded ','  padded ','  padded ',NULL,'A',NULL,'2024-02-20','line'||char(10)||'break','true','its','ä','1e3',NULL,'7','a','line'||char(10)||'break','its','a','true','its','',5,44100,NULL,0,'line'||char(10)||'break',NULL,'its',NULL,'a,b','  padded ','日本','a,b',5,0,5,NULL,2,'a,b',1,'Zürich','50%','7','日本','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',6,NULL,'','','2024-02-20',1.0e-05,NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','a',NULL,'  padded ','2024-02-20','','line'||char(10)||'break',NULL,'2024-02-20','Zürich','50%','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',3,123456.789,0,NULL,0,X'BD8374AEE20F',-1.5,0.1,NULL,'','a,b','null',1.0e-05,NULL,0.1,0.1,2,NULL,'Zürich','a,b','a,b',2,'its',1,'its',NULL,0),
(NULL,NULL,0.0,'null',5,'','ä','a','a',NULL,'  padded ','7','50%','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','日本','line'||char(10)||'break','2024-02-20','50%','007','  padded ','A','1e3','','7','1e3','a',NULL,2,'7',0,'a',1,NULL,0,'  padded ','007','A','007',NULL,3,0,0,5,'its',0,NULL,'a,b',NULL,'a,b',NULL,'A',7,'','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','true',NULL,-1.5,NULL,'50%','  padded ','  padded ',NULL,'a','2024-02-20','line'||char(10)||'break','its','日本','a,b',NULL,'ä',44100,NULL,2,NULL,44100,X'D175',1.0e+70,0.1,'line'||char(10)||'break','7','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',NULL,0.1,NULL,0.0,123456.789,1,'1e3','ä','','a,b',44100,NULL,2,NULL,'ä',NULL),
(NULL,'7',1.0e-05,'line'||char(10)||'break',2,'null','line'||char(10)||'break','ä','ä',NULL,'ä','A',NULL,NULL,'a','a,b','a,b','007',NULL,'line'||char(10)||'break','its','ä','ä','1e3','Zürich','A',0,0,'true',NULL,'line'||char(10)||'break',44100,'A',NULL,NULL,'ä','Zürich','2024-02-20',0,NULL,1,2,3,'line'||char(10)||'break',0,'',NULL,'007','a,b',NULL,NULL,8,'a,b','null','2024-02-20','line'||char(10)||'break',1.0e-05,'true',NULL,'  padded ','Zürich','its','007',NULL,NULL,'true','a,b','ä','Zürich','007',NULL,-1.5,44100,NULL,NULL,X'02684A1BFF4F',NULL,-1.5,NULL,'007',NULL,'007',1.0e+70,1.0e+70,0.1,1.0e-05,NULL,'  padded ','Zürich','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','50%',5,'null',1,'A',NULL,1),
('Zürich','line'||char(10)||'break',123456.789,'line'||char(10)||'break',2,NULL,NULL,'line'||char(10)||'break','7','50%',NULL,'',NULL,'null',NULL,NULL,'1e3','line'||char(10)||'break','2024-02-20',NULL,'its',NULL,'7',NULL,NULL,'50%',0,2,'a,b',1,'null',44100,'7',NULL,'7','007','日本','007',1,2,2,3,3,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',0,'a','  padded ','A','A','null',NULL,9,NULL,'a','',NULL,0.1,'a,b','日本',NULL,NULL,NULL,NULL,'Zürich','true',NULL,'null','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','A','true',0,-1.5,1,1,0,X'5871AD7EAB',1.0e-05,0.1,'7','line'||char(10)||'break',NULL,'true',0.0,2.0,NULL,1.0e+70,3,NULL,NULL,'','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',44100,'7',5,NULL,'a',2),
('a,b','日本',0.1,'its',NULL,'Zürich','A','7','2024-02-20','007',NULL,NULL,'Zürich','  padded ','7','1e3','2024-02-20','its','','null','007','a,b','true','',NULL,'A',NULL,2,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',NULL,'A',5,'A',5,'true','a,b','  padded ','50%',5,44100,0,NULL,3,'50%',0,'2024-02-20',NULL,NULL,'a',NULL,'50%',10,'null','Zürich','  padded ',NULL,NULL,'A','  padded ','1e3','1e3','  padded ','','007','a','a','7','line'||char(10)||'break','  padded ','Zürich',0,1.0e-05,0,5,1,X'B53B',0.0,1.0e+70,'日本','true','ä','A',0.0,1.0e-05,NULL,0.1,44100,NULL,'its','its','50%',3,NULL,NULL,'Zürich','A',3),
('Zürich','a',1.0e-05,NULL,1,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','a','007','its','2024-02-20',NULL,'','50%','007','A','null','its','Zürich','  padded ',NULL,'007','null','its','',NULL,3,3,'2024-02-20',1,NULL,44100,'null',2,NULL,NULL,NULL,'Zürich',0,NULL,NULL,44100,NULL,'null',44100,NULL,'ä','ä','1e3','7',NULL,11,NULL,'true','2024-02-20','its',123456.789,'true','','null','日本','true','ä','007','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','  padded ','its','日本',NULL,NULL,NULL,0.0,0,44100,44100,X'C121F766',1.0e-05,1.0e+70,NULL,'its',NULL,'50%',1.0e+70,0.1,NULL,NULL,5,'its','  padded ','null','a,b',1,'ä',NULL,NULL,'  padded ',0),
('007','true',0.1,'7',2,NULL,'its','7','A','2024-02-20',NULL,'','line'||char(10)||'break',NULL,NULL,'a',NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','line'||char(10)||'break','its',NULL,'50%','A','7','ä','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',1,0,'  padded ',NULL,'a,b',NULL,'a',NULL,NULL,NULL,'50%','Zürich',2,5,NULL,NULL,0,'1e3',1,'A','007',NULL,NULL,'','true',12,'A',NULL,'50%','Zürich',-1.5,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','7','2024-02-20','日本','ä',NULL,'true','its','50%','7',NULL,NULL,'a,b',NULL,1.0e+70,44100,0,44100,X'1B01',0.1,0.1,'line'||char(10)||'break','a,b','Zürich','50%',-1.5,0.1,1.0e-05,1.0e+70,0,'true','50%','007',NULL,1,'true',5,'null','',2);

INSERT INTO "item_attributes" VALUES
(1,0,'ä0','日本'),
(2,1,'ä1',NULL),
(3,2,'line'||char(10)||'break2','A'),
(4,3,'73','2024-02-20'),
(5,4,'Zürich4','1e3'),
(6,5,'line'||char(10)||'break5','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
(7,6,'A6','A'),
(8,7,'line'||char(10)||'break7','50%'),
(9,8,'a8','a,b'),
(10,9,'ä9','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
(11,10,'true10',NULL),
(12,11,'A11','its');

INSERT INTO "albums" VALUES
(123456.789,'line'||char(10)||'break','a,b','a',NULL,'null','its',NULL,'A',NULL,'A','2024-02-20',X'0E96CD4F','日本','true','a,b',2,'1e3',44100,44100,NULL,5,44100,'',1,NULL,'50%','  padded ','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','1e3','null',2,44100,0,5,-1.5,'a,b','Zürich',123456.789,NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','2024-02-20',3),
(2.0,'50%','2024-02-20','line'||char(10)||'break',NULL,NULL,'a,b','A',NULL,'line'||char(10)||'break',NULL,'',X'A545F3','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','ä','null',2,NULL,NULL,NULL,5,NULL,44100,'50%',2,'007','2024-02-20',NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',NULL,'Zürich',3,NULL,3,3,1.0e+70,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','7',123456.789,NULL,NULL,'null',44100),
(0.1,NULL,'line'||char(10)||'break','a,b','日本','its','日本','','ä','line'||char(10)||'break',NULL,'Zürich',NULL,'007','a',NULL,0,'',NULL,44100,NULL,2,NULL,'line'||char(10)||'break',3,'007','','007','50%','  padded ','A',5,44100,3,1,NULL,NULL,'null',NULL,0.1,'007',NULL,1),
(1.0e+70,NULL,'1e3','line'||char(10)||'break','  padded ','日本','true','its','line'||char(10)||'break','日本','line'||char(10)||'break','007',X'069FE142','a',NULL,NULL,1,NULL,3,1,2,0,1,NULL,4,'true',NULL,'A','its',NULL,'ä',44100,44100,5,5,123456.789,'true',NULL,1.0e+70,1.0e-05,NULL,'007',3),
(2.0,'true','A','true','1e3','ä','true',NULL,'2024-02-20','Zürich','50%','  padded ',X'957E3B66','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','007','null',44100,'2024-02-20',5,0,2,1,5,'日本',5,'50%','50%',NULL,NULL,'a,b','7',2,NULL,44100,44100,123456.789,'1e3','  padded ',123456.789,1.0e-05,'Zürich','null',44100),
(2.0,'Zürich','ä','ä','a,b','its','1e3','its',NULL,'its','50%','a',X'7F4A2E','7',NULL,'A',44100,'its',2,2,2,5,5,'',6,'null','null','Zürich','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','true','a',44100,NULL,3,0,0.0,'7','  padded ',1.0e-05,0.0,'A','  padded ',NULL),
(0.1,NULL,'  padded ','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','null','null',NULL,'日本',NULL,'日本','null','50%',NULL,'日本','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','true',44100,'a,b',44100,NULL,44100,NULL,NULL,'its',7,'50%',NULL,NULL,'line'||char(10)||'break','007','',NULL,5,1,1,1.0e+70,NULL,'Zürich',NULL,2.0,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','Zürich',NULL),
(0.0,'true','line'||char(10)||'break','A',NULL,'its','7',NULL,NULL,'its',NULL,'007',X'530A',NULL,NULL,'7',0,'a,b',2,5,3,44100,3,NULL,8,NULL,'A','2024-02-20','','line'||char(10)||'break','null',5,3,0,0,0.0,'  padded ','a',NULL,1.0e-05,'7',NULL,NULL),
(0.0,'null',NULL,'','7',NULL,'1e3','1e3','its','a,b','Zürich','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',X'D63CA9',NULL,'line'||char(10)||'break','2024-02-20',0,'a,b',1,0,5,44100,NULL,'',9,'its','ä','ä','true','ä','null',5,NULL,NULL,3,2.0,'  padded ',NULL,1.0e-05,NULL,'1e3','7',3),
(1.0e+70,NULL,'null','1e3','line'||char(10)||'break','50%','ä',NULL,'007','  padded ','A',NULL,X'35F15D',NULL,NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',2,'2024-02-20',5,2,1,3,NULL,NULL,10,'line'||char(10)||'break','2024-02-20',NULL,'7','7',NULL,5,44100,0,NULL,1.0e-05,'its','007',0.0,2.0,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','50%',NULL),
(2.0,NULL,'',NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','日本','ä','Zürich','its',NULL,'ä','Zürich',NULL,'its','7','007',NULL,'null',44100,NULL,1,1,NULL,NULL,11,NULL,'','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','','7','line'||char(10)||'break',44100,2,0,NULL,-1.5,'null',NULL,-1.5,-1.5,'2024-02-20','2024-02-20',1),
(-1.5,'7','',NULL,'1e3',NULL,'line'||char(10)||'break','日本','A','true','7','2024-02-20',X'029BEEDDC5D9','ä',NULL,'  padded ',2,'its',NULL,5,44100,1,2,'  padded ',12,'007','ä',NULL,'line'||char(10)||'break',NULL,'A',NULL,44100,5,NULL,NULL,NULL,'007',NULL,2.0,'1e3','日本',2);

INSERT INTO "album_attributes" VALUES
(1,0,'0','a'),
(2,1,'Zürich1','its'),
(3,2,'  padded 2',NULL),
(4,3,'a3','50%'),
(5,4,'50%4','ä'),
(6,5,'line'||char(10)||'break5',NULL),
(7,6,'2024-02-206','true'),
(8,7,'null7',NULL),
(9,8,'  padded 8','line'||char(10)||'break'),
(10,9,'line'||char(10)||'break9','a'),
(11,10,'null10','Zürich'),
(12,11,'50%11','a,b');
